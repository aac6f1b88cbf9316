package org.jrdma.nvme.soft;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.soft.sisci.device.DeviceHost;

/** A borrower of a device, with memory that is mapped for the device. */
final class TestBorrower {

    static final int PAGE = 4096;

    private final DeviceHost host;
    private final int number;
    private final MemorySegment memory;
    private final long address;
    private long allocated;

    /** Memory of the borrower. */
    record Memory(MemorySegment segment, long address) {

        Memory at(long offset) {
            return new Memory(segment.asSlice(offset), address + offset);
        }
    }

    TestBorrower(DeviceHost host, int number, Arena arena, long bytes) {
        this.host = host;
        this.number = number;
        this.memory = arena.allocate(bytes, PAGE);
        host.attach(number);
        this.address = host.map(number, memory, DeviceHost.Signal.NONE);
    }

    int number() {
        return number;
    }

    /** Returns zeroed memory of whole pages. */
    Memory allocate(long bytes) {
        var rounded = Math.ceilDiv(bytes, PAGE) * PAGE;
        var result = new Memory(memory.asSlice(allocated, rounded), address + allocated);
        allocated += rounded;
        result.segment().fill((byte) 0);
        return result;
    }

    /** Returns the first I/O address after the mapped memory. */
    long end() {
        return address + memory.byteSize();
    }

    MemorySegment memory() {
        return memory;
    }

    void unmap() {
        host.unmap(number, address);
    }

    /** Cuts or restores the link to the memory. */
    void setReachable(boolean reachable) {
        host.setReachable(number, address, reachable);
    }

    void detach() {
        host.detach(number);
    }
}
