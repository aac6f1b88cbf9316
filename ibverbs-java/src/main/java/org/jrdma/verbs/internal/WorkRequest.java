package org.jrdma.verbs.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.jrdma.abi.rdma.ibv_mw_bind;
import org.jrdma.abi.rdma.ibv_mw_bind_info;
import org.jrdma.abi.rdma.ibv_recv_wr;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_sge;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jspecify.annotations.Nullable;

/**
 * A work request in native memory. The same allocation contains the request's list of memory pieces
 * and the location where a provider writes the address of a rejected request. The memory is freed
 * when this object is no longer reachable.
 */
public abstract sealed class WorkRequest {

    public enum Operation {
        /** Writes the peer's memory. */
        WRITE(rdma_h.IBV_WR_RDMA_WRITE()),
        /** Writes the peer's memory and consumes a receive request that the peer has posted. */
        WRITE_WITH_IMMEDIATE(rdma_h.IBV_WR_RDMA_WRITE_WITH_IMM()),
        SEND(rdma_h.IBV_WR_SEND()),
        SEND_WITH_IMMEDIATE(rdma_h.IBV_WR_SEND_WITH_IMM()),
        /** Reads memory of the peer. */
        READ(rdma_h.IBV_WR_RDMA_READ()),
        /** Replaces 8 bytes of remote memory if they have the expected value. */
        COMPARE_AND_SWAP(rdma_h.IBV_WR_ATOMIC_CMP_AND_SWP()),
        /** Adds to 8 bytes of remote memory. */
        FETCH_AND_ADD(rdma_h.IBV_WR_ATOMIC_FETCH_AND_ADD()),
        /** Sends a message that invalidates a memory window of the peer. */
        SEND_WITH_INVALIDATE(rdma_h.IBV_WR_SEND_WITH_INV()),
        /** Writes 8 bytes of remote memory atomically. Available only with extended posts. */
        ATOMIC_WRITE(rdma_h.IBV_WR_ATOMIC_WRITE()),
        /**
         * Flushes earlier writes, which are visible or persistent at the peer when the flush
         * completes. Available only with extended posts.
         */
        FLUSH(rdma_h.IBV_WR_FLUSH()),
        BIND(rdma_h.IBV_WR_BIND_MW()),
        INVALIDATE(rdma_h.IBV_WR_LOCAL_INV());

        private final int code;

        Operation(int code) {
            this.code = code;
        }
    }

    /** The largest number of elements that a program can request. */
    public static final int MAX_ELEMENTS = 1 << 16;

    // Send and receive requests begin with the same fields, so these offsets are valid for both.
    static final long WR_ID = ibv_recv_wr.wr_id$offset();
    static final long NEXT = ibv_recv_wr.next$offset();
    static final long LIST = ibv_recv_wr.sg_list$offset();
    static final long COUNT = ibv_recv_wr.num_sge$offset();

    static final long ELEMENT_BYTES = ibv_sge.layout().byteSize();
    static final long ELEMENT_ADDRESS = ibv_sge.addr$offset();
    static final long ELEMENT_LENGTH = ibv_sge.length$offset();
    static final long ELEMENT_KEY = ibv_sge.lkey$offset();

    final MemorySegment memory;
    private final long address;
    private final long elements;
    private final int maxElements;
    private final long refused;

    private WorkRequest(long requestBytes, int maxElements) {
        this.maxElements = maxElements;
        this.elements = requestBytes;
        this.refused = requestBytes + maxElements * ELEMENT_BYTES;
        this.memory = Arena.ofAuto().allocate(refused + Long.BYTES, Long.BYTES);
        this.address = memory.address();
        memory.set(JAVA_LONG, LIST, address + elements);
    }

    public final long address() {
        return address;
    }

    /** The location where the provider writes the address of a rejected request. */
    public final long refusedAddress() {
        return address + refused;
    }

    /**
     * Returns the address of the request that the provider rejected, or 0, and resets it to 0. A
     * provider writes the address only when it rejects a request, so a caller need not clear the
     * address before it posts.
     */
    public final long takeRefused() {
        var taken = memory.get(JAVA_LONG, refused);
        memory.set(JAVA_LONG, refused, 0);
        return taken;
    }

    /**
     * Records that this request was rejected. Called for native functions that do not write the
     * address of the rejected request.
     */
    public final void refused() {
        memory.set(JAVA_LONG, refused, address);
    }

    public final int maxElements() {
        return maxElements;
    }

    public final void element(int index, long pieceAddress, int length, int localKey) {
        var at = elements + index * ELEMENT_BYTES;
        memory.set(JAVA_LONG, at + ELEMENT_ADDRESS, pieceAddress);
        memory.set(JAVA_INT, at + ELEMENT_LENGTH, length);
        memory.set(JAVA_INT, at + ELEMENT_KEY, localKey);
    }

    /** Sets the number that identifies this request in its completion: the {@code wr_id}. */
    public final void number(long number) {
        try {
            UncheckedMemory.setLong(address + WR_ID, number);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    /** Sets the address of the next request of a chain; 0 for the last request. */
    public final void next(long requestAddress) {
        memory.set(JAVA_LONG, NEXT, requestAddress);
    }

    public final void elements(int count) {
        memory.set(JAVA_INT, COUNT, count);
    }

    /** A request for a send queue. */
    public static final class Send extends WorkRequest {

        private static final long BYTES = ibv_send_wr.layout().byteSize();
        static final long OPCODE = ibv_send_wr.opcode$offset();
        static final long FLAGS = ibv_send_wr.send_flags$offset();
        static final long IMMEDIATE = ibv_send_wr.imm_data$offset();
        private static final long REMOTE = ibv_send_wr.wr$offset();
        static final long REMOTE_ADDRESS = REMOTE + ibv_send_wr.wr.rdma.remote_addr$offset();
        static final long REMOTE_KEY = REMOTE + ibv_send_wr.wr.rdma.rkey$offset();
        static final long ATOMIC_ADDRESS = REMOTE + ibv_send_wr.wr.atomic.remote_addr$offset();
        static final long COMPARE_OR_ADD = REMOTE + ibv_send_wr.wr.atomic.compare_add$offset();
        static final long SWAP = REMOTE + ibv_send_wr.wr.atomic.swap$offset();
        static final long ATOMIC_KEY = REMOTE + ibv_send_wr.wr.atomic.rkey$offset();
        static final long FLUSHED_LENGTH = COMPARE_OR_ADD;
        static final long FLUSH_PLACEMENTS = SWAP;
        static final long FLUSH_SELECTIVITY = SWAP + Integer.BYTES;
        static final long ADDRESS_HANDLE = REMOTE + ibv_send_wr.wr.ud.ah$offset();
        static final long REMOTE_QUEUE_PAIR = REMOTE + ibv_send_wr.wr.ud.remote_qpn$offset();
        static final long REMOTE_QUEUE_KEY = REMOTE + ibv_send_wr.wr.ud.remote_qkey$offset();

        static final long RECEIVE_QUEUE =
                ibv_send_wr.qp_type$offset() + ibv_send_wr.qp_type.xrc.remote_srqn$offset();

        static final long INVALIDATED_KEY = ibv_send_wr.invalidate_rkey$offset();
        private static final long BIND = ibv_send_wr.bind_mw$offset();
        static final long BOUND_WINDOW = BIND + ibv_send_wr.bind_mw.mw$offset();
        static final long NEW_KEY = BIND + ibv_send_wr.bind_mw.rkey$offset();
        static final long BIND_INFO = BIND + ibv_send_wr.bind_mw.bind_info$offset();
        private static final long BOUND_REGION = BIND_INFO + ibv_mw_bind_info.mr$offset();
        private static final long BOUND_ADDRESS = BIND_INFO + ibv_mw_bind_info.addr$offset();
        private static final long BOUND_LENGTH = BIND_INFO + ibv_mw_bind_info.length$offset();
        private static final long BOUND_ACCESS =
                BIND_INFO + ibv_mw_bind_info.mw_access_flags$offset();

        /** Requests a completion for this request even if it succeeds. */
        public static final int SIGNALED = rdma_h.IBV_SEND_SIGNALED();

        /** Delays the start of the request until all earlier reads and atomics have completed. */
        public static final int FENCE = rdma_h.IBV_SEND_FENCE();

        /** Wakes up a peer that waits for solicited messages. */
        public static final int SOLICITED = rdma_h.IBV_SEND_SOLICITED();

        /** Copies the data into the request when it is posted. */
        public static final int INLINE = rdma_h.IBV_SEND_INLINE();

        /** Lets the device compute the IP and TCP or UDP checksums of the packet. */
        public static final int IP_CHECKSUM = rdma_h.IBV_SEND_IP_CSUM();

        /**
         * The {@code ibv_mw_bind} that {@link #bindRequest()} fills; null before its first call.
         */
        private @Nullable MemorySegment bindRequest;

        public Send(int maxElements) {
            super(BYTES, maxElements);
        }

        public void operation(Operation operation) {
            memory.set(JAVA_INT, OPCODE, operation.code);
        }

        public void flags(int flags) {
            memory.set(JAVA_INT, FLAGS, flags);
        }

        public void immediate(int data) {
            memory.set(JAVA_INT, IMMEDIATE, BigEndian.toNative(data));
        }

        /** Sets the address and the key of the memory of the peer, for a read or write. */
        public void remote(long remoteAddress, int key) {
            memory.set(JAVA_LONG, REMOTE_ADDRESS, remoteAddress);
            memory.set(JAVA_INT, REMOTE_KEY, key);
        }

        /**
         * Sets the address of the memory of the peer, for a read or write. The key stays unchanged.
         */
        public void remoteAddress(long remoteAddress) {
            memory.set(JAVA_LONG, REMOTE_ADDRESS, remoteAddress);
        }

        public void atomic(long remoteAddress, int key) {
            memory.set(JAVA_LONG, ATOMIC_ADDRESS, remoteAddress);
            memory.set(JAVA_INT, ATOMIC_KEY, key);
        }

        public void operands(long compareOrAdd, long swap) {
            memory.set(JAVA_LONG, COMPARE_OR_ADD, compareOrAdd);
            memory.set(JAVA_LONG, SWAP, swap);
        }

        /**
         * Sets the range to flush. The {@code ibv_send_wr} has no fields for a flush, because C
         * programs post a flush by a function with parameters. Therefore, the range is stored in
         * the fields for the operands of an atomic, where {@link ExtendedPosts} reads it.
         */
        public void flush(long remoteAddress, int key, int length, int placements) {
            flush(remoteAddress, key, length, placements, rdma_h.IBV_FLUSH_RANGE());
        }

        /**
         * Makes this request flush a whole memory region of the peer.
         *
         * @param placements the {@code IBV_FLUSH_} flags that select whether data becomes visible
         *     or persistent
         */
        public void flushRegion(long remoteAddress, int key, int placements) {
            flush(remoteAddress, key, 0, placements, rdma_h.IBV_FLUSH_MR());
        }

        private void flush(
                long remoteAddress, int key, int length, int placements, int selectivity) {
            atomic(remoteAddress, key);
            memory.set(JAVA_LONG, FLUSHED_LENGTH, Integer.toUnsignedLong(length));
            memory.set(JAVA_INT, FLUSH_PLACEMENTS, placements);
            memory.set(JAVA_INT, FLUSH_SELECTIVITY, selectivity);
        }

        /**
         * Sets the key to invalidate. Also sets the remote key, because the provider of siw takes
         * the key of a SEND from this field.
         */
        public void invalidatedKey(int key) {
            memory.set(JAVA_INT, INVALIDATED_KEY, key);
            memory.set(JAVA_INT, REMOTE_KEY, key);
        }

        /**
         * Sets the window to bind, the region to which the window grants access, and the access
         * rights of the peers.
         */
        public void bind(MemorySegment window, MemorySegment region, int access) {
            memory.set(ADDRESS, BOUND_WINDOW, window);
            memory.set(ADDRESS, BOUND_REGION, region);
            memory.set(JAVA_INT, BOUND_ACCESS, access);
        }

        public void bindRange(long regionAddress, long length) {
            memory.set(JAVA_LONG, BOUND_ADDRESS, regionAddress);
            memory.set(JAVA_LONG, BOUND_LENGTH, length);
        }

        public long boundLength() {
            return memory.get(JAVA_LONG, BOUND_LENGTH);
        }

        /** Sets the remote key that a type 2 window has after the bind. */
        public void newKey(int key) {
            memory.set(JAVA_INT, NEW_KEY, key);
        }

        /**
         * Copies the bind to an {@code ibv_mw_bind}, the format of {@code ibv_bind_mw}, and returns
         * its address.
         */
        public long bindRequest() {
            if (bindRequest == null) {
                bindRequest = ibv_mw_bind.allocate(Arena.ofAuto());
            }
            ibv_mw_bind.wr_id(bindRequest, memory.get(JAVA_LONG, WR_ID));
            ibv_mw_bind.send_flags(bindRequest, memory.get(JAVA_INT, FLAGS));
            MemorySegment.copy(
                    memory,
                    BIND_INFO,
                    bindRequest,
                    ibv_mw_bind.bind_info$offset(),
                    ibv_mw_bind_info.layout().byteSize());
            return bindRequest.address();
        }

        /** Sets the number of the remote XRC shared receive queue that receives the message. */
        public void receiveQueue(int number) {
            memory.set(JAVA_INT, RECEIVE_QUEUE, number);
        }

        public void destination(long addressHandle, int queuePairNumber, int queueKey) {
            memory.set(JAVA_LONG, ADDRESS_HANDLE, addressHandle);
            memory.set(JAVA_INT, REMOTE_QUEUE_PAIR, queuePairNumber);
            memory.set(JAVA_INT, REMOTE_QUEUE_KEY, queueKey);
        }
    }

    /** A request for a receive queue. */
    public static final class Receive extends WorkRequest {

        private static final long BYTES = ibv_recv_wr.layout().byteSize();

        public Receive(int maxElements) {
            super(BYTES, maxElements);
        }
    }
}
