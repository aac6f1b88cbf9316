package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_qp_open_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr_ex;
import org.jrdma.abi.rdma.ibv_xrcd_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Failure;
import org.jrdma.soft.roce.abi.Memory;

/** The functions of a context for XRC domains and the objects in them. */
final class XrcFunctions {

    private static final int OF_SHARED_QUEUES =
            rdma_h.IBV_SRQ_INIT_ATTR_TYPE()
                    | rdma_h.IBV_SRQ_INIT_ATTR_PD()
                    | rdma_h.IBV_SRQ_INIT_ATTR_XRCD()
                    | rdma_h.IBV_SRQ_INIT_ATTR_CQ();

    private XrcFunctions() {}

    @Exported(value = "open_xrcd", failure = Failure.NULL)
    static long openDomain(long context, long wanted) {
        var attributes = Memory.at(wanted, ibv_xrcd_init_attr.layout());
        var all = rdma_h.IBV_XRCD_INIT_ATTR_FD() | rdma_h.IBV_XRCD_INIT_ATTR_OFLAGS();
        ContextFunctions.refuseUnknown(ibv_xrcd_init_attr.comp_mask(attributes), all);
        refuseUnlessAll(ibv_xrcd_init_attr.comp_mask(attributes), all);
        return new XrcDomainObject(
                        ContextObject.of(context),
                        ibv_xrcd_init_attr.fd(attributes),
                        ibv_xrcd_init_attr.oflags(attributes))
                .structure()
                .address();
    }

    @Exported(value = "close_xrcd", failure = Failure.ERRNO)
    static int closeDomain(long domain) {
        XrcDomainObject.of(domain).destroy();
        return 0;
    }

    @Exported(value = "create_srq_ex", failure = Failure.NULL)
    static long createSharedQueue(long context, long wanted) {
        var attributes = Memory.at(wanted, ibv_srq_init_attr_ex.layout());
        var present = ibv_srq_init_attr_ex.comp_mask(attributes);
        ContextFunctions.refuseUnknown(present, OF_SHARED_QUEUES);
        refuseUnlessAll(present, rdma_h.IBV_SRQ_INIT_ATTR_PD());
        var domain = ProtectionDomainObject.of(ibv_srq_init_attr_ex.pd(attributes).address());
        ErrnoException.throwIf(domain.context() != ContextObject.of(context), Errno.EINVAL);
        // The one structure begins as the other.
        var plain = attributes.asSlice(0, ibv_srq_init_attr.layout().byteSize());
        var type =
                (present & rdma_h.IBV_SRQ_INIT_ATTR_TYPE()) == 0
                        ? rdma_h.IBV_SRQT_BASIC()
                        : ibv_srq_init_attr_ex.srq_type(attributes);
        SharedReceiveQueueObject made;
        if (type == rdma_h.IBV_SRQT_BASIC()) {
            made = new SharedReceiveQueueObject(domain, plain, null);
        } else if (type == rdma_h.IBV_SRQT_XRC()) {
            refuseUnlessAll(present, OF_SHARED_QUEUES);
            made = new SharedReceiveQueueObject(domain, plain, extension(domain, attributes));
        } else {
            throw new ErrnoException(Errno.EOPNOTSUPP);
        }
        return made.structure().address();
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

    @Exported(value = "get_srq_num", failure = Failure.ERRNO)
    static int sharedQueueNumber(long queue, long target) {
        Memory.setInt(target, SharedReceiveQueueObject.of(queue).number());
        return 0;
    }

    @Exported(value = "open_qp", failure = Failure.NULL)
    static long openQueuePair(long context, long wanted) {
        var attributes = Memory.at(wanted, ibv_qp_open_attr.layout());
        var present = ibv_qp_open_attr.comp_mask(attributes);
        var needed =
                rdma_h.IBV_QP_OPEN_ATTR_NUM()
                        | rdma_h.IBV_QP_OPEN_ATTR_XRCD()
                        | rdma_h.IBV_QP_OPEN_ATTR_TYPE();
        ContextFunctions.refuseUnknown(present, needed | rdma_h.IBV_QP_OPEN_ATTR_CONTEXT());
        refuseUnlessAll(present, needed);
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

    private static void refuseUnlessAll(int bits, int needed) {
        ErrnoException.throwIf((bits & needed) != needed, Errno.EINVAL);
    }
}
