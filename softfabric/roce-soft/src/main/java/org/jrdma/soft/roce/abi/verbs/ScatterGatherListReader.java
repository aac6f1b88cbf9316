package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_sge;
import org.jrdma.ffi.linkage.UncheckedMemory;

/** Reads the members of the elements of a scatter/gather list, an array of {@code ibv_sge}. */
final class ScatterGatherListReader {

    private static final long BYTES = ibv_sge.layout().byteSize();
    private static final long ADDRESS = ibv_sge.addr$offset();
    private static final long LENGTH = ibv_sge.length$offset();
    private static final long KEY = ibv_sge.lkey$offset();

    private ScatterGatherListReader() {}

    static long address(long list, int index) {
        return UncheckedMemory.getLong(list + index * BYTES + ADDRESS);
    }

    static int length(long list, int index) {
        return UncheckedMemory.getInt(list + index * BYTES + LENGTH);
    }

    static int key(long list, int index) {
        return UncheckedMemory.getInt(list + index * BYTES + KEY);
    }

    /** The sum of the lengths of the first {@code count} elements, in bytes. */
    static long totalLength(long list, int count) {
        var total = 0L;
        for (var i = 0; i < count; i++) {
            total += Integer.toUnsignedLong(length(list, i));
        }
        return total;
    }
}
