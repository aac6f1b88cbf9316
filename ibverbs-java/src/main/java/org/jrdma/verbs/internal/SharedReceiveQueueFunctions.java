package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_srq;
import org.jrdma.abi.rdma.ibv_srq_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr_ex;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.SharedReceiveQueueAttributes;
import org.jrdma.verbs.model.VerbsException;

/**
 * Receive queues that queue pairs share: made, changed, asked, destroyed. Posting is in {@link
 * HotPath}. A library may lack them, and is then as one whose device cannot: EOPNOTSUPP.
 */
public final class SharedReceiveQueueFunctions {

    private static final MethodHandle CREATE_SRQ =
            capturingErrno(rdma_h.ibv_create_srq$descriptor());
    private static final MethodHandle CREATE_SRQ_EX =
            capturingErrno(verbs_context.create_srq_ex.descriptor());
    private static final MethodHandle GET_SRQ_NUM =
            capturingErrno(verbs_context.get_srq_num.descriptor());
    private static final MethodHandle MODIFY_SRQ =
            capturingErrno(rdma_h.ibv_modify_srq$descriptor());
    private static final MethodHandle QUERY_SRQ = capturingErrno(rdma_h.ibv_query_srq$descriptor());
    private static final MethodHandle DESTROY_SRQ =
            capturingErrno(rdma_h.ibv_destroy_srq$descriptor());

    private final Optional<MemorySegment> createSrq;
    private final Optional<MemorySegment> modifySrq;
    private final Optional<MemorySegment> querySrq;
    private final Optional<MemorySegment> destroySrq;

    /** Finds the functions. */
    public SharedReceiveQueueFunctions(NativeLibrary library) {
        createSrq = library.find("ibv_create_srq");
        modifySrq = library.find("ibv_modify_srq");
        querySrq = library.find("ibv_query_srq");
        destroySrq = library.find("ibv_destroy_srq");
    }

    /** A shared receive queue. NULL and errno on failure. */
    public MemorySegment create(MemorySegment domain, int receives, int elements, Attempt attempt)
            throws VerbsException {
        var function = there(createSrq, attempt);
        there(destroySrq, attempt); // not made by a library that could not destroy it
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_init_attr.allocate(arena);
            var room = ibv_srq_init_attr.attr(attributes);
            ibv_srq_attr.max_wr(room, receives);
            ibv_srq_attr.max_sge(room, elements);
            var queue =
                    attempt.pointer(
                            call(() ->
                                    (MemorySegment)
                                            CREATE_SRQ.invokeExact(
                                                    function, segment(), domain, attributes)));
            return memoryAt(queue, ibv_srq.layout().byteSize());
        }
    }

    /**
     * How a shared receive queue is made that senders name.
     *
     * @param completions where its receives complete
     */
    public record Named(MemorySegment domain, MemorySegment xrcDomain, MemorySegment completions) {}

    /** A shared receive queue that senders name. NULL and errno on failure. */
    public MemorySegment createNamed(
            VerbsContext context, Named wanted, int receives, int elements, Attempt attempt)
            throws VerbsException {
        var function = context.require(verbs_context.create_srq_ex$offset(), attempt);
        there(destroySrq, attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_init_attr_ex.allocate(arena);
            var room = ibv_srq_init_attr_ex.attr(attributes);
            ibv_srq_attr.max_wr(room, receives);
            ibv_srq_attr.max_sge(room, elements);
            ibv_srq_init_attr_ex.srq_type(attributes, rdma_h.IBV_SRQT_XRC());
            ibv_srq_init_attr_ex.pd(attributes, wanted.domain);
            ibv_srq_init_attr_ex.xrcd(attributes, wanted.xrcDomain);
            ibv_srq_init_attr_ex.cq(attributes, wanted.completions);
            ibv_srq_init_attr_ex.comp_mask(
                    attributes,
                    rdma_h.IBV_SRQ_INIT_ATTR_TYPE()
                            | rdma_h.IBV_SRQ_INIT_ATTR_PD()
                            | rdma_h.IBV_SRQ_INIT_ATTR_XRCD()
                            | rdma_h.IBV_SRQ_INIT_ATTR_CQ());
            var queue =
                    attempt.pointer(
                            call(() ->
                                    (MemorySegment)
                                            CREATE_SRQ_EX.invokeExact(
                                                    function,
                                                    segment(),
                                                    context.address(),
                                                    attributes)));
            return memoryAt(queue, ibv_srq.layout().byteSize());
        }
    }

    /** The number by which senders name it. Returns the errno. */
    public int number(VerbsContext context, MemorySegment queue, Attempt attempt)
            throws VerbsException {
        var function = context.require(verbs_context.get_srq_num$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var number = arena.allocate(ValueLayout.JAVA_INT);
            attempt.errno(
                    call(() -> (int) GET_SRQ_NUM.invokeExact(function, segment(), queue, number)));
            return number.get(ValueLayout.JAVA_INT, 0);
        }
    }

    /** Changes how many receives there is room for. Returns the errno. */
    public void resize(MemorySegment queue, int receives, Attempt attempt) throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_attr.allocate(arena);
            ibv_srq_attr.max_wr(attributes, receives);
            modify(queue, attributes, rdma_h.IBV_SRQ_MAX_WR(), attempt);
        }
    }

    /** Asks for an event when fewer receives are left; 0 for none. Returns the errno. */
    public void limit(MemorySegment queue, int receives, Attempt attempt) throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_attr.allocate(arena);
            ibv_srq_attr.srq_limit(attributes, receives);
            modify(queue, attributes, rdma_h.IBV_SRQ_LIMIT(), attempt);
        }
    }

    private void modify(MemorySegment queue, MemorySegment attributes, int mask, Attempt attempt)
            throws VerbsException {
        var function = there(modifySrq, attempt);
        attempt.errno(
                call(() ->
                        (int)
                                MODIFY_SRQ.invokeExact(
                                        function, segment(), queue, attributes, mask)));
    }

    /** Returns the errno. */
    public SharedReceiveQueueAttributes query(MemorySegment queue, Attempt attempt)
            throws VerbsException {
        var function = there(querySrq, attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_attr.allocate(arena);
            attempt.errno(
                    call(() ->
                            (int) QUERY_SRQ.invokeExact(function, segment(), queue, attributes)));
            return new SharedReceiveQueueAttributes(
                    ibv_srq_attr.max_wr(attributes),
                    ibv_srq_attr.max_sge(attributes),
                    ibv_srq_attr.srq_limit(attributes));
        }
    }

    /** Waits until every asynchronous event about it was acknowledged. Returns the errno. */
    public void destroy(MemorySegment queue, Attempt attempt) throws VerbsException {
        var function = there(destroySrq, attempt);
        attempt.errno(call(() -> (int) DESTROY_SRQ.invokeExact(function, segment(), queue)));
    }

    private static MemorySegment there(Optional<MemorySegment> function, Attempt attempt)
            throws VerbsException {
        return function.orElseThrow(() -> attempt.failed(Errno.EOPNOTSUPP));
    }
}
