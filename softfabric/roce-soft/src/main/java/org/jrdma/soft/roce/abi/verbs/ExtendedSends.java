package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.abi.rdma.ibv_data_buf;
import org.jrdma.abi.rdma.ibv_mw_bind_info;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_ex;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_sge;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Exports;

/**
 * The functions that post work requests to an extended queue pair ({@code ibv_qp_ex}). A post
 * consists of several calls by one thread, from {@code wr_start} to {@code wr_complete} or {@code
 * wr_abort}. As in C, other threads that start a post wait until the post ends.
 *
 * <p>The calls build a chain of {@code ibv_send_wr} structures. {@code wr_complete} posts either
 * the whole chain or nothing. It also reports the first error of the preceding calls, because these
 * return no result.
 */
final class ExtendedSends {

    private static final int MESSAGES =
            rdma_h.IBV_QP_EX_WITH_SEND() | rdma_h.IBV_QP_EX_WITH_SEND_WITH_IMM();
    private static final int CONNECTED =
            MESSAGES
                    | rdma_h.IBV_QP_EX_WITH_RDMA_WRITE()
                    | rdma_h.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM()
                    | rdma_h.IBV_QP_EX_WITH_SEND_WITH_INV()
                    | rdma_h.IBV_QP_EX_WITH_BIND_MW();
    private static final int EXTENDED =
            CONNECTED
                    | rdma_h.IBV_QP_EX_WITH_RDMA_READ()
                    | rdma_h.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP()
                    | rdma_h.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD()
                    | rdma_h.IBV_QP_EX_WITH_LOCAL_INV();
    private static final int RELIABLE =
            EXTENDED | rdma_h.IBV_QP_EX_WITH_ATOMIC_WRITE() | rdma_h.IBV_QP_EX_WITH_FLUSH();

    private static final long REQUEST_BYTES = ibv_send_wr.layout().byteSize();
    private static final long ELEMENT_BYTES = ibv_sge.layout().byteSize();

    private final QueuePairObject queuePair;
    private final MemorySegment structure;
    private final int maxRequests;
    private final int maxElements;
    private final int maxInline;
    private final ReentrantLock lock = new ReentrantLock();

    /**
     * The requests of the current post. Each segment contains an {@code ibv_send_wr}, followed by
     * its scatter/gather list and its inline data. Segments are allocated when they are first
     * needed, and reused for later posts.
     */
    private final List<MemorySegment> requests = new ArrayList<>();

    /** The number of requests in the current post. */
    private int count;

    /** The error of the first call that failed in the current post; 0 if none has failed. */
    private int errno;

    /**
     * Creates the post functions of a queue pair.
     *
     * @param structure the {@code ibv_qp_ex} whose function pointers this constructor sets
     * @param capacities an {@code ibv_qp_cap} with the capacities of the queue pair
     * @param functions the functions to which the constructor sets the pointers, by the name of the
     *     structure member
     */
    ExtendedSends(
            QueuePairObject queuePair,
            MemorySegment structure,
            MemorySegment capacities,
            SymbolLookup functions) {
        this.queuePair = queuePair;
        this.structure = structure;
        this.maxRequests = ibv_qp_cap.max_send_wr(capacities);
        this.maxElements = ibv_qp_cap.max_send_sge(capacities);
        this.maxInline = ibv_qp_cap.max_inline_data(capacities);
        Exports.install(functions, structure, ibv_qp_ex.layout());
    }

    /**
     * Checks that a type of queue pair supports the requested operations.
     *
     * @param type an {@code IBV_QPT_} code
     * @param operations a combination of {@code IBV_QP_EX_WITH_} flags
     * @throws ErrnoException with {@code EOPNOTSUPP} if an operation is not supported
     */
    static void requireSupported(int type, long operations) {
        var known = 0;
        if (type == rdma_h.IBV_QPT_RC()) {
            known = RELIABLE;
        } else if (type == rdma_h.IBV_QPT_XRC_SEND()) {
            known = EXTENDED;
        } else if (type == rdma_h.IBV_QPT_UC()) {
            known = CONNECTED;
        } else if (type == rdma_h.IBV_QPT_UD()) {
            known = MESSAGES;
        }
        ErrnoException.throwIf((operations & ~known) != 0, Errno.EOPNOTSUPP);
    }

    @Exported(value = "wr_start", failure = ErrorConvention.NONE)
    void start() {
        if (lock.isHeldByCurrentThread()) {
            // In C, the thread would wait forever for a lock that it holds itself.
            throw new ErrnoException(Errno.EINVAL);
        }
        lock.lock();
        count = 0;
        errno = 0;
    }

    /**
     * Ends the post and posts all its requests. Returns 0, or an errno if an error occurred and
     * nothing was posted.
     */
    @Exported(value = "wr_complete", failure = ErrorConvention.ERRNO)
    int complete() {
        requireStarted();
        try {
            if (errno != 0 || count == 0) {
                return errno;
            }
            for (var index = 1; index < count; index++) {
                ibv_send_wr.next(requests.get(index - 1), requests.get(index));
            }
            return queuePair.postAllSends(requests.getFirst().address(), count);
        } finally {
            lock.unlock();
        }
    }

    @Exported(value = "wr_abort", failure = ErrorConvention.NONE)
    void abort() {
        requireStarted();
        lock.unlock();
    }

    @Exported(value = "wr_send", failure = ErrorConvention.NONE)
    void send() {
        begin(rdma_h.IBV_WR_SEND());
    }

    /**
     * Adds a SEND with immediate data.
     *
     * @param immediate the immediate data in network byte order
     */
    @Exported(value = "wr_send_imm", failure = ErrorConvention.NONE)
    void sendImmediate(int immediate) {
        begin(rdma_h.IBV_WR_SEND_WITH_IMM());
        ibv_send_wr.imm_data(last(), immediate);
    }

    @Exported(value = "wr_rdma_write", failure = ErrorConvention.NONE)
    void write(int key, long address) {
        begin(rdma_h.IBV_WR_RDMA_WRITE());
        remote(key, address);
    }

    @Exported(value = "wr_rdma_write_imm", failure = ErrorConvention.NONE)
    void writeImmediate(int key, long address, int immediate) {
        begin(rdma_h.IBV_WR_RDMA_WRITE_WITH_IMM());
        remote(key, address);
        ibv_send_wr.imm_data(last(), immediate);
    }

    @Exported(value = "wr_rdma_read", failure = ErrorConvention.NONE)
    void read(int key, long address) {
        begin(rdma_h.IBV_WR_RDMA_READ());
        remote(key, address);
    }

    @Exported(value = "wr_atomic_cmp_swp", failure = ErrorConvention.NONE)
    void compareAndSwap(int key, long address, long compare, long swap) {
        begin(rdma_h.IBV_WR_ATOMIC_CMP_AND_SWP());
        atomic(key, address, compare, swap);
    }

    @Exported(value = "wr_atomic_fetch_add", failure = ErrorConvention.NONE)
    void fetchAndAdd(int key, long address, long delta) {
        begin(rdma_h.IBV_WR_ATOMIC_FETCH_AND_ADD());
        atomic(key, address, delta, 0);
    }

    /**
     * Adds an atomic write.
     *
     * @param value the address of the 8 bytes to write
     */
    @Exported(value = "wr_atomic_write", failure = ErrorConvention.NONE)
    void atomicWrite(int key, long address, long value) {
        requireStarted();
        requireNotNull(value, 1);
        begin(rdma_h.IBV_WR_ATOMIC_WRITE());
        atomic(
                key,
                address,
                CallerMemory.at(value, Long.BYTES).get(ValueLayout.JAVA_LONG_UNALIGNED, 0),
                0);
    }

    /**
     * Adds a FLUSH. Its parameters are stored in the operands of an atomic operation, because
     * {@code ibv_send_wr} has no members for them.
     */
    @Exported(value = "wr_flush", failure = ErrorConvention.NONE)
    void flush(int key, long address, long length, byte placement, byte selectivity) {
        begin(rdma_h.IBV_WR_FLUSH());
        if (length >>> Integer.SIZE != 0) {
            throw fail(Errno.EINVAL);
        }
        atomic(
                key,
                address,
                length,
                SendPoster.flushOperand(
                        Byte.toUnsignedInt(placement), Byte.toUnsignedInt(selectivity)));
    }

    @Exported(value = "wr_send_inv", failure = ErrorConvention.NONE)
    void sendInvalidate(int key) {
        begin(rdma_h.IBV_WR_SEND_WITH_INV());
        ibv_send_wr.invalidate_rkey(last(), key);
    }

    @Exported(value = "wr_local_inv", failure = ErrorConvention.NONE)
    void invalidate(int key) {
        begin(rdma_h.IBV_WR_LOCAL_INV());
        ibv_send_wr.invalidate_rkey(last(), key);
    }

    @Exported(value = "wr_bind_mw", failure = ErrorConvention.NONE)
    void bind(long window, int key, long binding) {
        begin(rdma_h.IBV_WR_BIND_MW());
        var bind = ibv_send_wr.bind_mw(last());
        ibv_send_wr.bind_mw.mw(bind, MemorySegment.ofAddress(window));
        ibv_send_wr.bind_mw.rkey(bind, key);
        ibv_send_wr
                .bind_mw
                .bind_info(bind)
                .copyFrom(CallerMemory.at(binding, ibv_mw_bind_info.layout()));
    }

    private void remote(int key, long address) {
        var rdma = ibv_send_wr.wr.rdma(ibv_send_wr.wr(last()));
        ibv_send_wr.wr.rdma.rkey(rdma, key);
        ibv_send_wr.wr.rdma.remote_addr(rdma, address);
    }

    private void atomic(int key, long address, long compareOrAdd, long swap) {
        var atomic = ibv_send_wr.wr.atomic(ibv_send_wr.wr(last()));
        ibv_send_wr.wr.atomic.rkey(atomic, key);
        ibv_send_wr.wr.atomic.remote_addr(atomic, address);
        ibv_send_wr.wr.atomic.compare_add(atomic, compareOrAdd);
        ibv_send_wr.wr.atomic.swap(atomic, swap);
    }

    @Exported(value = "wr_set_ud_addr", failure = ErrorConvention.NONE)
    void setDestination(long handle, int number, int key) {
        requireRequest();
        var datagram = ibv_send_wr.wr.ud(ibv_send_wr.wr(last()));
        ibv_send_wr.wr.ud.ah(datagram, MemorySegment.ofAddress(handle));
        ibv_send_wr.wr.ud.remote_qpn(datagram, number);
        ibv_send_wr.wr.ud.remote_qkey(datagram, key);
    }

    @Exported(value = "wr_set_xrc_srqn", failure = ErrorConvention.NONE)
    void setReceiveQueue(int number) {
        requireRequest();
        ibv_send_wr.qp_type.xrc.remote_srqn(
                ibv_send_wr.qp_type.xrc(ibv_send_wr.qp_type(last())), number);
    }

    @Exported(value = "wr_set_sge", failure = ErrorConvention.NONE)
    void setElement(int key, long address, int length) {
        requireRequest();
        requireAtMost(maxElements, 1);
        var element = last().asSlice(REQUEST_BYTES);
        ibv_sge.addr(element, address);
        ibv_sge.length(element, length);
        ibv_sge.lkey(element, key);
        ibv_send_wr.num_sge(last(), 1);
    }

    @Exported(value = "wr_set_sge_list", failure = ErrorConvention.NONE)
    void setElements(long count, long list) {
        requireRequest();
        requireAtMost(maxElements, count);
        requireNotNull(list, count);
        last().asSlice(REQUEST_BYTES).copyFrom(CallerMemory.at(list, count * ELEMENT_BYTES));
        ibv_send_wr.num_sge(last(), (int) count);
    }

    @Exported(value = "wr_set_inline_data", failure = ErrorConvention.NONE)
    void setInline(long address, long length) {
        beginInline();
        addInline(address, length);
    }

    @Exported(value = "wr_set_inline_data_list", failure = ErrorConvention.NONE)
    void setInlines(long buffers, long list) {
        beginInline();
        requireNotNull(list, buffers);
        for (var index = 0; index < buffers; index++) {
            var buffer =
                    CallerMemory.at(
                            list + index * ibv_data_buf.layout().byteSize(), ibv_data_buf.layout());
            addInline(ibv_data_buf.addr(buffer).address(), ibv_data_buf.length(buffer));
        }
    }

    private void beginInline() {
        requireRequest();
        var element = last().asSlice(REQUEST_BYTES);
        ibv_sge.addr(element, last().address() + inlineOffset());
        ibv_sge.length(element, 0);
        ibv_send_wr.num_sge(last(), 1);
        ibv_send_wr.send_flags(last(), ibv_send_wr.send_flags(last()) | rdma_h.IBV_SEND_INLINE());
    }

    /**
     * Appends inline data to the last request. The data is copied immediately, because the caller
     * may change it before the post ends.
     */
    private void addInline(long address, long length) {
        var element = last().asSlice(REQUEST_BYTES);
        var present = ibv_sge.length(element);
        requireAtMost(maxInline - present, length);
        requireNotNull(address, length);
        last().asSlice(inlineOffset() + present).copyFrom(CallerMemory.at(address, length));
        ibv_sge.length(element, present + (int) length);
    }

    /** The offset of the inline data in the segment of a request. */
    private long inlineOffset() {
        return REQUEST_BYTES + Math.max(1, maxElements) * ELEMENT_BYTES;
    }

    /** Adds a request to the current post. */
    private void begin(int opcode) {
        requireStarted();
        requireNoError();
        if (count == maxRequests) {
            throw fail(Errno.ENOMEM);
        }
        if (count == requests.size()) {
            requests.add(Arena.ofAuto().allocate(inlineOffset() + maxInline, Long.BYTES));
        }
        count++;
        var request = last();
        request.asSlice(0, REQUEST_BYTES).fill((byte) 0);
        ibv_send_wr.wr_id(request, ibv_qp_ex.wr_id(structure));
        ibv_send_wr.send_flags(request, ibv_qp_ex.wr_flags(structure) & ~rdma_h.IBV_SEND_INLINE());
        ibv_send_wr.opcode(request, opcode);
        ibv_send_wr.sg_list(request, request.asSlice(REQUEST_BYTES));
    }

    private MemorySegment last() {
        return requests.get(count - 1);
    }

    private void requireStarted() {
        ErrnoException.throwIf(!lock.isHeldByCurrentThread(), Errno.EINVAL);
    }

    private void requireNoError() {
        if (errno != 0) {
            throw new ErrnoException(errno);
        }
    }

    /**
     * Checks that the current thread has started a post, that no call of the post has failed, and
     * that it has at least one request.
     */
    private void requireRequest() {
        requireStarted();
        requireNoError();
        if (count == 0) {
            throw fail(Errno.EINVAL);
        }
    }

    private void requireAtMost(long max, long value) {
        if (value < 0 || value > max) {
            throw fail(Errno.EINVAL);
        }
    }

    /** Fails if an address is NULL and the number of elements or bytes at the address is not 0. */
    private void requireNotNull(long address, long count) {
        if (address == 0 && count != 0) {
            throw fail(Errno.EINVAL);
        }
    }

    /** Records an error, which {@code wr_complete} returns. */
    private ErrnoException fail(int number) {
        errno = number;
        return new ErrnoException(number);
    }
}
