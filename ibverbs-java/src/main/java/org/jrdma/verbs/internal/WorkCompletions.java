package org.jrdma.verbs.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.linkage.AddressSpace;

/**
 * A batch of completions in native memory, which a poll fills. An index is not checked: it is the
 * caller's to stay below what the poll returned.
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

    // What ibv_wc has no place for, in an array behind.
    private static final long TIMESTAMP = 0;
    private static final long WALL_CLOCK = 8;
    private static final long FLOW_TAG = 16;
    private static final long VLAN_TAG = 20;
    private static final long BYTES_BESIDE = 24;

    private final int capacity;
    private final MemorySegment memory;
    private final long address;

    /** Room for so many; freed when it is no longer reachable. */
    public WorkCompletions(int capacity) {
        this.capacity = capacity;
        this.memory = Arena.ofAuto().allocate((BYTES + BYTES_BESIDE) * capacity, Long.BYTES);
        this.address = memory.address();
    }

    /** How many there is room for. */
    public int capacity() {
        return capacity;
    }

    /** Where they are. */
    public long address() {
        return address;
    }

    /** The number of the request that was completed. */
    public long requestNumber(int index) {
        return longAt(index, WR_ID);
    }

    /** C's number of the status; 0 is success. */
    public int status(int index) {
        return intAt(index, STATUS);
    }

    /** C's number of what was completed. */
    public int opcode(int index) {
        return intAt(index, OPCODE);
    }

    /** The vendor's code for a failure. */
    public int vendorError(int index) {
        return intAt(index, VENDOR_ERROR);
    }

    /** How many bytes arrived. */
    public int byteLength(int index) {
        return intAt(index, BYTE_LENGTH);
    }

    /**
     * Whether immediate data came with it. The flag alone is not enough: rxe sets it for the sender
     * too.
     */
    public boolean hasImmediate(int index) {
        return isReceive(index) && (intAt(index, FLAGS) & WITH_IMMEDIATE) != 0;
    }

    /** The immediate data. */
    public int immediate(int index) {
        return BigEndian.toNative(intAt(index, IMMEDIATE));
    }

    /** Whether the sender has taken a window away. */
    public boolean hasInvalidated(int index) {
        return isReceive(index) && (intAt(index, FLAGS) & WITH_INVALIDATE) != 0;
    }

    /** The key that the window had. */
    public int invalidatedKey(int index) {
        return intAt(index, INVALIDATED_KEY);
    }

    /** The number of the queue pair. */
    public int queuePairNumber(int index) {
        return intAt(index, QUEUE_PAIR);
    }

    /** Whether a receive was completed. Of no meaning for a failure. */
    public boolean isReceive(int index) {
        return (opcode(index) & RECEIVE) != 0;
    }

    /** Whether a datagram came with a global route header. */
    public boolean hasGlobalRoute(int index) {
        return (intAt(index, FLAGS) & WITH_GLOBAL_ROUTE) != 0;
    }

    /** The number of the queue pair that a datagram came from. */
    public int sourceQueuePairNumber(int index) {
        return intAt(index, SOURCE_QUEUE_PAIR);
    }

    /** Whether the device has found the checksums of a packet right. */
    public boolean hasGoodChecksum(int index) {
        return isReceive(index) && (intAt(index, FLAGS) & WITH_GOOD_CHECKSUM) != 0;
    }

    /** The LID that a datagram came from. */
    public int sourceLid(int index) {
        return Short.toUnsignedInt(memory.get(ValueLayout.JAVA_SHORT, index * BYTES + SOURCE_LID));
    }

    /** The service level of a datagram. */
    public int serviceLevel(int index) {
        return Byte.toUnsignedInt(memory.get(ValueLayout.JAVA_BYTE, index * BYTES + SERVICE_LEVEL));
    }

    /** Which of this port's LIDs a datagram came to. */
    public int pathBits(int index) {
        return Byte.toUnsignedInt(memory.get(ValueLayout.JAVA_BYTE, index * BYTES + PATH_BITS));
    }

    /** When it was completed, in ticks of the device's clock. */
    public long timestamp(int index) {
        return memory.get(ValueLayout.JAVA_LONG, beside(index) + TIMESTAMP);
    }

    /** When it was completed, in nanoseconds of the wall clock. */
    public long wallClock(int index) {
        return memory.get(ValueLayout.JAVA_LONG, beside(index) + WALL_CLOCK);
    }

    /** The VLAN tag that it came with. */
    public int vlanTag(int index) {
        return Short.toUnsignedInt(memory.get(ValueLayout.JAVA_SHORT, beside(index) + VLAN_TAG));
    }

    /** What the rule that it came by was marked with. */
    public int flowTag(int index) {
        return memory.get(ValueLayout.JAVA_INT, beside(index) + FLOW_TAG);
    }

    // For a poll that tells one thing after the other.

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

    /** As it came over the wire. */
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
        memory.set(ValueLayout.JAVA_LONG, beside(index) + TIMESTAMP, value);
    }

    void wallClock(int index, long value) {
        memory.set(ValueLayout.JAVA_LONG, beside(index) + WALL_CLOCK, value);
    }

    void vlanTag(int index, short value) {
        memory.set(ValueLayout.JAVA_SHORT, beside(index) + VLAN_TAG, value);
    }

    void flowTag(int index, int value) {
        memory.set(ValueLayout.JAVA_INT, beside(index) + FLOW_TAG, value);
    }

    private void setInt(int index, long offset, int value) {
        try {
            AddressSpace.setInt(address + index * BYTES + offset, value);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    private void setLong(int index, long offset, long value) {
        try {
            AddressSpace.setLong(address + index * BYTES + offset, value);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    private long beside(int index) {
        return capacity * BYTES + index * BYTES_BESIDE;
    }

    private int intAt(int index, long offset) {
        try {
            return AddressSpace.getInt(address + index * BYTES + offset);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    private long longAt(int index, long offset) {
        try {
            return AddressSpace.getLong(address + index * BYTES + offset);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }
}
