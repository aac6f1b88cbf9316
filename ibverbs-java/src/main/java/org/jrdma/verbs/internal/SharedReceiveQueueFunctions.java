package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

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
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.SharedReceiveQueueAttributes;
import org.jrdma.verbs.model.VerbsException;

/**
 * Calls the C functions of shared receive queues. The functions that post are in {@link
 * PostAndPollFunctions}. If the library lacks a function, the method fails with EOPNOTSUPP, as with
 * a device that does not support it.
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

    public SharedReceiveQueueFunctions(NativeLibrary library) {
        createSrq = library.find("ibv_create_srq");
        modifySrq = library.find("ibv_modify_srq");
        querySrq = library.find("ibv_query_srq");
        destroySrq = library.find("ibv_destroy_srq");
    }

    /** Creates a shared receive queue. The C function returns NULL and sets errno on failure. */
    public MemorySegment create(
            MemorySegment domain, int receives, int elements, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(createSrq);
        attempt.require(destroySrq); // A queue that cannot be destroyed must not be created.
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_init_attr.allocate(arena);
            var room = ibv_srq_init_attr.attr(attributes);
            ibv_srq_attr.max_wr(room, receives);
            ibv_srq_attr.max_sge(room, elements);
            return attempt.structure(
                    ibv_srq.layout(),
                    () ->
                            (MemorySegment)
                                    CREATE_SRQ.invokeExact(
                                            function, segment(), domain, attributes));
        }
    }

    /**
     * The parameters for the creation of an XRC shared receive queue. Peers select the queue by its
     * number in each request.
     *
     * @param completions the completion queue that reports the receives
     */
    public record XrcSpecification(
            MemorySegment domain, MemorySegment xrcDomain, MemorySegment completions) {}

    /**
     * Creates an XRC shared receive queue. The C function returns NULL and sets errno on failure.
     */
    public MemorySegment createXrc(
            VerbsContext context,
            XrcSpecification specification,
            int receives,
            int elements,
            CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.create_srq_ex$offset(), attempt);
        attempt.require(destroySrq);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_init_attr_ex.allocate(arena);
            var room = ibv_srq_init_attr_ex.attr(attributes);
            ibv_srq_attr.max_wr(room, receives);
            ibv_srq_attr.max_sge(room, elements);
            ibv_srq_init_attr_ex.srq_type(attributes, rdma_h.IBV_SRQT_XRC());
            ibv_srq_init_attr_ex.pd(attributes, specification.domain);
            ibv_srq_init_attr_ex.xrcd(attributes, specification.xrcDomain);
            ibv_srq_init_attr_ex.cq(attributes, specification.completions);
            ibv_srq_init_attr_ex.comp_mask(
                    attributes,
                    rdma_h.IBV_SRQ_INIT_ATTR_TYPE()
                            | rdma_h.IBV_SRQ_INIT_ATTR_PD()
                            | rdma_h.IBV_SRQ_INIT_ATTR_XRCD()
                            | rdma_h.IBV_SRQ_INIT_ATTR_CQ());
            return attempt.structure(
                    ibv_srq.layout(),
                    () ->
                            (MemorySegment)
                                    CREATE_SRQ_EX.invokeExact(
                                            function, segment(), context.address(), attributes));
        }
    }

    /**
     * Returns the number by which the requests of peers select an XRC shared receive queue. The C
     * function returns 0 or an errno.
     */
    public int number(VerbsContext context, MemorySegment queue, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.get_srq_num$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var number = arena.allocate(ValueLayout.JAVA_INT);
            attempt.errno(() -> (int) GET_SRQ_NUM.invokeExact(function, segment(), queue, number));
            return number.get(ValueLayout.JAVA_INT, 0);
        }
    }

    /** Changes the capacity, in receive requests. The C function returns 0 or an errno. */
    public void resize(MemorySegment queue, int receives, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_attr.allocate(arena);
            ibv_srq_attr.max_wr(attributes, receives);
            modify(queue, attributes, rdma_h.IBV_SRQ_MAX_WR(), attempt);
        }
    }

    /**
     * Sets the limit: the device raises an event when fewer receive requests than this number
     * remain. 0 disables the event. The C function returns 0 or an errno.
     */
    public void limit(MemorySegment queue, int receives, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_attr.allocate(arena);
            ibv_srq_attr.srq_limit(attributes, receives);
            modify(queue, attributes, rdma_h.IBV_SRQ_LIMIT(), attempt);
        }
    }

    private void modify(
            MemorySegment queue, MemorySegment attributes, int mask, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(modifySrq);
        attempt.errno(
                () -> (int) MODIFY_SRQ.invokeExact(function, segment(), queue, attributes, mask));
    }

    /** Queries the attributes of a shared receive queue. The C function returns 0 or an errno. */
    public SharedReceiveQueueAttributes query(MemorySegment queue, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(querySrq);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_srq_attr.allocate(arena);
            attempt.errno(
                    () -> (int) QUERY_SRQ.invokeExact(function, segment(), queue, attributes));
            return new SharedReceiveQueueAttributes(
                    ibv_srq_attr.max_wr(attributes),
                    ibv_srq_attr.max_sge(attributes),
                    ibv_srq_attr.srq_limit(attributes));
        }
    }

    /**
     * Destroys a shared receive queue. Blocks until all asynchronous events of the queue are
     * acknowledged. The C function returns 0 or an errno.
     */
    public void destroy(MemorySegment queue, CheckedCall attempt) throws VerbsException {
        var function = attempt.require(destroySrq);
        attempt.errno(() -> (int) DESTROY_SRQ.invokeExact(function, segment(), queue));
    }
}
