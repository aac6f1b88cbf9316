package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_qp_open_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr_ex;
import org.jrdma.abi.rdma.ibv_xrcd_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;

/**
 * The functions of a context for XRC domains, and for the shared receive queues and queue pairs in
 * these domains.
 */
final class XrcFunctions {

    private static final int XRC_QUEUE_ATTRIBUTES =
            rdma_h.IBV_SRQ_INIT_ATTR_TYPE()
                    | rdma_h.IBV_SRQ_INIT_ATTR_PD()
                    | rdma_h.IBV_SRQ_INIT_ATTR_XRCD()
                    | rdma_h.IBV_SRQ_INIT_ATTR_CQ();

    private XrcFunctions() {}

    @Exported(value = "open_xrcd", failure = ErrorConvention.NULL)
    static long openDomain(long context, long requested) {
        var attributes = CallerMemory.at(requested, ibv_xrcd_init_attr.layout());
        var all = rdma_h.IBV_XRCD_INIT_ATTR_FD() | rdma_h.IBV_XRCD_INIT_ATTR_OFLAGS();
        ControlPathFunctions.requireKnown(ibv_xrcd_init_attr.comp_mask(attributes), all);
        requireAll(ibv_xrcd_init_attr.comp_mask(attributes), all);
        return new XrcDomainObject(
                        ContextObject.of(context),
                        ibv_xrcd_init_attr.fd(attributes),
                        ibv_xrcd_init_attr.oflags(attributes))
                .structure()
                .address();
    }

    @Exported(value = "close_xrcd", failure = ErrorConvention.ERRNO)
    static int closeDomain(long domain) {
        XrcDomainObject.of(domain).destroy();
        return 0;
    }

    @Exported(value = "create_srq_ex", failure = ErrorConvention.NULL)
    static long createSharedQueue(long context, long requested) {
        var attributes = CallerMemory.at(requested, ibv_srq_init_attr_ex.layout());
        var present = ibv_srq_init_attr_ex.comp_mask(attributes);
        ControlPathFunctions.requireKnown(present, XRC_QUEUE_ATTRIBUTES);
        requireAll(present, rdma_h.IBV_SRQ_INIT_ATTR_PD());
        var domain = ProtectionDomainObject.of(ibv_srq_init_attr_ex.pd(attributes).address());
        ErrnoException.throwIf(domain.context() != ContextObject.of(context), Errno.EINVAL);
        // ibv_srq_init_attr_ex begins with the members of ibv_srq_init_attr.
        var plain = attributes.asSlice(0, ibv_srq_init_attr.layout().byteSize());
        var type =
                (present & rdma_h.IBV_SRQ_INIT_ATTR_TYPE()) == 0
                        ? rdma_h.IBV_SRQT_BASIC()
                        : ibv_srq_init_attr_ex.srq_type(attributes);
        SharedReceiveQueueObject queue;
        if (type == rdma_h.IBV_SRQT_BASIC()) {
            queue = new SharedReceiveQueueObject(domain, plain, null);
        } else if (type == rdma_h.IBV_SRQT_XRC()) {
            requireAll(present, XRC_QUEUE_ATTRIBUTES);
            queue = new SharedReceiveQueueObject(domain, plain, extension(domain, attributes));
        } else {
            throw new ErrnoException(Errno.EOPNOTSUPP);
        }
        return queue.structure().address();
    }

    private static SharedReceiveQueueObject.Extension extension(
            ProtectionDomainObject owner, MemorySegment attributes) {
        var domain = XrcDomainObject.of(ibv_srq_init_attr_ex.xrcd(attributes).address());
        var completions = CompletionQueueObject.of(ibv_srq_init_attr_ex.cq(attributes).address());
        ErrnoException.throwIf(
                domain.context() != owner.context() || completions.context() != owner.context(),
                Errno.EINVAL);
        return new SharedReceiveQueueObject.Extension(domain, completions);
    }

    @Exported(value = "get_srq_num", failure = ErrorConvention.ERRNO)
    static int sharedQueueNumber(long queue, long target) {
        CallerMemory.setInt(target, SharedReceiveQueueObject.of(queue).number());
        return 0;
    }

    @Exported(value = "open_qp", failure = ErrorConvention.NULL)
    static long openQueuePair(long context, long requested) {
        var attributes = CallerMemory.at(requested, ibv_qp_open_attr.layout());
        var present = ibv_qp_open_attr.comp_mask(attributes);
        var required =
                rdma_h.IBV_QP_OPEN_ATTR_NUM()
                        | rdma_h.IBV_QP_OPEN_ATTR_XRCD()
                        | rdma_h.IBV_QP_OPEN_ATTR_TYPE();
        ControlPathFunctions.requireKnown(present, required | rdma_h.IBV_QP_OPEN_ATTR_CONTEXT());
        requireAll(present, required);
        var domain = XrcDomainObject.of(ibv_qp_open_attr.xrcd(attributes).address());
        var found = domain.domain().receivers().get(ibv_qp_open_attr.qp_num(attributes));
        if (domain.context() != ContextObject.of(context)
                || ibv_qp_open_attr.qp_type(attributes) != rdma_h.IBV_QPT_XRC_RECV()
                || found == null) {
            throw new ErrnoException(Errno.EINVAL);
        }
        return new QueuePairObject(domain, found, ibv_qp_open_attr.qp_context(attributes))
                .structure()
                .address();
    }

    /**
     * Checks that a bit mask contains all required bits.
     *
     * @throws ErrnoException with {@code EINVAL} if a required bit is missing
     */
    private static void requireAll(int bits, int required) {
        ErrnoException.throwIf((bits & required) != required, Errno.EINVAL);
    }
}
