package org.jrdma.verbs.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.linkage.UncheckedMemory;

/**
 * A batch of completions in native memory, which a poll fills. The methods do not check indexes:
 * callers must use only indexes below the number of completions that the last poll returned.
 */
public final class WorkCompletions {

    private static final long BYTES = ibv_wc.layout().byteSize();
    private static final long WR_ID = ibv_wc.wr_id$offset();
    private static final long STATUS = ibv_wc.status$offset();
    private static final long OPCODE = ibv_wc.opcode$offset();
    private static final long VENDOR_ERROR = ibv_wc.vendor_err$offset();
    private static final long BYTE_LENGTH = ibv_wc.byte_len$offset();
    private static final long IMMEDIATE = ibv_wc.imm_data$offset();
    private static final long QUEUE_PAIR = ibv_wc.qp_num$offset();
    private static final long SOURCE_QUEUE_PAIR = ibv_wc.src_qp$offset();
    private static final long SOURCE_LID = ibv_wc.slid$offset();
    private static final long SERVICE_LEVEL = ibv_wc.sl$offset();
    private static final long PATH_BITS = ibv_wc.dlid_path_bits$offset();
    private static final long FLAGS = ibv_wc.wc_flags$offset();
    private static final int WITH_IMMEDIATE = rdma_h.IBV_WC_WITH_IMM();
    private static final long INVALIDATED_KEY = ibv_wc.invalidated_rkey$offset();
    private static final int WITH_INVALIDATE = rdma_h.IBV_WC_WITH_INV();
    private static final int WITH_GLOBAL_ROUTE = rdma_h.IBV_WC_GRH();
    private static final int WITH_GOOD_CHECKSUM = rdma_h.IBV_WC_IP_CSUM_OK();
    private static final int RECEIVE = rdma_h.IBV_WC_RECV();

    // Offsets in the elements of a second array, which follows the ibv_wc array in the same memory.
    // It contains the fields that ibv_wc lacks.
    private static final long TIMESTAMP = 0;
    private static final long WALL_CLOCK = 8;
    private static final long FLOW_TAG = 16;
    private static final long VLAN_TAG = 20;
    private static final long EXTRA_BYTES = 24;

    /** The largest capacity that a program can request. */
    public static final int MAX_CAPACITY = 1 << 16;

    private final int capacity;
    private final MemorySegment memory;
    private final long address;

    /** Allocates a batch. Its memory is freed when the batch is no longer reachable. */
    public WorkCompletions(int capacity) {
        this.capacity = capacity;
        this.memory = Arena.ofAuto().allocate((BYTES + EXTRA_BYTES) * capacity, Long.BYTES);
        this.address = memory.address();
    }

    public int capacity() {
        return capacity;
    }

    /** The address of the first completion. */
    public long address() {
        return address;
    }

    public long requestNumber(int index) {
        return longAt(index, WR_ID);
    }

    /** The status as an {@code ibv_wc_status}; 0 means success. */
    public int status(int index) {
        return intAt(index, STATUS);
    }

    public int opcode(int index) {
        return intAt(index, OPCODE);
    }

    public int vendorError(int index) {
        return intAt(index, VENDOR_ERROR);
    }

    public int byteLength(int index) {
        return intAt(index, BYTE_LENGTH);
    }

    /**
     * Returns true if the completion is of a receive that carries immediate data. The flag in
     * {@code wc_flags} alone does not suffice, because rxe also sets it in completions of the
     * sender.
     */
    public boolean hasImmediate(int index) {
        return isReceive(index) && (intAt(index, FLAGS) & WITH_IMMEDIATE) != 0;
    }

    public int immediate(int index) {
        return BigEndian.toNative(intAt(index, IMMEDIATE));
    }

    public boolean hasInvalidated(int index) {
        return isReceive(index) && (intAt(index, FLAGS) & WITH_INVALIDATE) != 0;
    }

    public int invalidatedKey(int index) {
        return intAt(index, INVALIDATED_KEY);
    }

    public int queuePairNumber(int index) {
        return intAt(index, QUEUE_PAIR);
    }

    /**
     * Returns true if the completion is of a receive. The result is undefined for a failed
     * completion.
     */
    public boolean isReceive(int index) {
        return (opcode(index) & RECEIVE) != 0;
    }

    /** Returns true if the completion is of a datagram that arrived with a global route header. */
    public boolean hasGlobalRoute(int index) {
        return (intAt(index, FLAGS) & WITH_GLOBAL_ROUTE) != 0;
    }

    public int sourceQueuePairNumber(int index) {
        return intAt(index, SOURCE_QUEUE_PAIR);
    }

    /**
     * Returns true if the device verified the checksums of the received packet and found no error.
     */
    public boolean hasGoodChecksum(int index) {
        return isReceive(index) && (intAt(index, FLAGS) & WITH_GOOD_CHECKSUM) != 0;
    }

    public int sourceLid(int index) {
        return Short.toUnsignedInt(memory.get(ValueLayout.JAVA_SHORT, index * BYTES + SOURCE_LID));
    }

    public int serviceLevel(int index) {
        return Byte.toUnsignedInt(memory.get(ValueLayout.JAVA_BYTE, index * BYTES + SERVICE_LEVEL));
    }

    /**
     * The low bits of the destination LID of a datagram. They distinguish the LIDs of a port that
     * has several.
     */
    public int pathBits(int index) {
        return Byte.toUnsignedInt(memory.get(ValueLayout.JAVA_BYTE, index * BYTES + PATH_BITS));
    }

    /** The time of the completion in ticks of the device's clock. */
    public long timestamp(int index) {
        return memory.get(ValueLayout.JAVA_LONG, extraOffset(index) + TIMESTAMP);
    }

    /** The time of the completion in nanoseconds of the wall clock. */
    public long wallClock(int index) {
        return memory.get(ValueLayout.JAVA_LONG, extraOffset(index) + WALL_CLOCK);
    }

    public int vlanTag(int index) {
        return Short.toUnsignedInt(
                memory.get(ValueLayout.JAVA_SHORT, extraOffset(index) + VLAN_TAG));
    }

    /** The tag of the flow rule that matched the packet. */
    public int flowTag(int index) {
        return memory.get(ValueLayout.JAVA_INT, extraOffset(index) + FLOW_TAG);
    }

    // Setters for ExtendedPoller, which reads each field of a completion by a separate native call.

    void number(int index, long value) {
        setLong(index, WR_ID, value);
    }

    void status(int index, int value) {
        setInt(index, STATUS, value);
    }

    void opcode(int index, int value) {
        setInt(index, OPCODE, value);
    }

    void vendorError(int index, int value) {
        setInt(index, VENDOR_ERROR, value);
    }

    void byteLength(int index, int value) {
        setInt(index, BYTE_LENGTH, value);
    }

    void flags(int index, int value) {
        setInt(index, FLAGS, value);
    }

    /** Sets the immediate data; the value is in network byte order. */
    void rawImmediate(int index, int value) {
        setInt(index, IMMEDIATE, value);
    }

    void queuePairNumber(int index, int value) {
        setInt(index, QUEUE_PAIR, value);
    }

    void sourceQueuePairNumber(int index, int value) {
        setInt(index, SOURCE_QUEUE_PAIR, value);
    }

    void sourceLid(int index, short value) {
        memory.set(ValueLayout.JAVA_SHORT, index * BYTES + SOURCE_LID, value);
    }

    void serviceLevel(int index, byte value) {
        memory.set(ValueLayout.JAVA_BYTE, index * BYTES + SERVICE_LEVEL, value);
    }

    void pathBits(int index, byte value) {
        memory.set(ValueLayout.JAVA_BYTE, index * BYTES + PATH_BITS, value);
    }

    void timestamp(int index, long value) {
        memory.set(ValueLayout.JAVA_LONG, extraOffset(index) + TIMESTAMP, value);
    }

    void wallClock(int index, long value) {
        memory.set(ValueLayout.JAVA_LONG, extraOffset(index) + WALL_CLOCK, value);
    }

    void vlanTag(int index, short value) {
        memory.set(ValueLayout.JAVA_SHORT, extraOffset(index) + VLAN_TAG, value);
    }

    void flowTag(int index, int value) {
        memory.set(ValueLayout.JAVA_INT, extraOffset(index) + FLOW_TAG, value);
    }

    private void setInt(int index, long offset, int value) {
        try {
            UncheckedMemory.setInt(address + index * BYTES + offset, value);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    private void setLong(int index, long offset, long value) {
        try {
            UncheckedMemory.setLong(address + index * BYTES + offset, value);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    private long extraOffset(int index) {
        return capacity * BYTES + index * EXTRA_BYTES;
    }

    private int intAt(int index, long offset) {
        try {
            return UncheckedMemory.getInt(address + index * BYTES + offset);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    private long longAt(int index, long offset) {
        try {
            return UncheckedMemory.getLong(address + index * BYTES + offset);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }
}
