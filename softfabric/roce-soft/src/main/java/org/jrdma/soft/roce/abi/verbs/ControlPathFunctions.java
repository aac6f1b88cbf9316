package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandles;
import org.jrdma.abi.rdma.ibv_cq_init_attr_ex;
import org.jrdma.abi.rdma.ibv_moderate_cq;
import org.jrdma.abi.rdma.ibv_modify_cq_attr;
import org.jrdma.abi.rdma.ibv_parent_domain_init_attr;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_qp_init_attr_ex;
import org.jrdma.abi.rdma.ibv_td_init_attr;
import org.jrdma.abi.rdma.ibv_values_ex;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.timespec;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Exports;

/**
 * The functions that C callers reach through the function pointers in {@code verbs_context}, except
 * those of the data path and those for memory and XRC domains. A query function copies only as many
 * bytes as the caller's structure has, because the caller may have been compiled with an older
 * header.
 */
public final class ControlPathFunctions {

    /**
     * All functions that C callers reach through the function pointers in structures: contexts,
     * extended completion queues, extended queue pairs and device memory. The name of a symbol is
     * the name of the structure member.
     */
    public static final SymbolLookup ALL =
            Exports.of(
                            MethodHandles.lookup(),
                            ControlPathFunctions.class,
                            DataPathFunctions.class,
                            WindowAndDeviceMemoryFunctions.class,
                            XrcFunctions.class)
                    .or(
                            Exports.ofObjects(
                                    MethodHandles.lookup(),
                                    ExtendedPoll.class,
                                    queue -> CompletionQueueObject.of(queue).extendedPoll()))
                    .or(
                            Exports.ofObjects(
                                    MethodHandles.lookup(),
                                    ExtendedSends.class,
                                    queuePair -> QueuePairObject.of(queuePair).extendedSends()));

    private ControlPathFunctions() {}

    @Exported(value = "query_port", failure = ErrorConvention.ERRNO)
    static int queryPort(long context, byte port, long target, long bytes) {
        copy(DeviceAttributes.port(ContextObject.of(context), port), target, bytes);
        return 0;
    }

    @Exported(value = "query_device_ex", failure = ErrorConvention.ERRNO)
    static int queryDevice(long context, long input, long target, long bytes) {
        copy(DeviceAttributes.extendedDevice(ContextObject.of(context)), target, bytes);
        return 0;
    }

    @Exported(value = "alloc_null_mr", failure = ErrorConvention.NULL)
    static long allocateNullRegion(long domain) {
        return new MemoryRegionObject(ProtectionDomainObject.of(domain)).structure().address();
    }

    @Exported(value = "query_rt_values", failure = ErrorConvention.ERRNO)
    static int queryClock(long context, long target) {
        ContextObject.of(context);
        var values = CallerMemory.at(target, ibv_values_ex.layout());
        requireKnown(ibv_values_ex.comp_mask(values), rdma_h.IBV_VALUES_MASK_RAW_CLOCK());
        var clock = ibv_values_ex.raw_clock(values);
        // The whole time is stored in tv_nsec, because completion timestamps have that unit.
        timespec.tv_sec(clock, 0);
        timespec.tv_nsec(clock, DeviceLimits.clock());
        return 0;
    }

    @Exported(value = "create_cq_ex", failure = ErrorConvention.NULL)
    static long createCompletionQueue(long context, long requested) {
        var attributes = CallerMemory.at(requested, ibv_cq_init_attr_ex.layout());
        ExtendedPoll.requireSupported(ibv_cq_init_attr_ex.wc_flags(attributes));
        requireKnown(
                ibv_cq_init_attr_ex.comp_mask(attributes),
                rdma_h.IBV_CQ_INIT_ATTR_MASK_FLAGS() | rdma_h.IBV_CQ_INIT_ATTR_MASK_PD());
        requireKnown(
                CompletionQueueObject.flags(attributes),
                rdma_h.IBV_CREATE_CQ_ATTR_SINGLE_THREADED()
                        | rdma_h.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN());
        return CompletionExports.create(
                        ContextObject.of(context),
                        ibv_cq_init_attr_ex.cqe(attributes),
                        ibv_cq_init_attr_ex.cq_context(attributes).address(),
                        ibv_cq_init_attr_ex.channel(attributes).address(),
                        ibv_cq_init_attr_ex.comp_vector(attributes),
                        attributes)
                .address();
    }

    @Exported(value = "create_qp_ex", failure = ErrorConvention.NULL)
    static long createQueuePair(long context, long requested) {
        var attributes = CallerMemory.at(requested, ibv_qp_init_attr_ex.layout());
        var present = ibv_qp_init_attr_ex.comp_mask(attributes);
        // ibv_qp_init_attr_ex begins with the members of ibv_qp_init_attr.
        var plain = attributes.asSlice(0, ibv_qp_init_attr.layout().byteSize());
        if (ibv_qp_init_attr_ex.qp_type(attributes) == rdma_h.IBV_QPT_XRC_RECV()) {
            requireKnown(present, rdma_h.IBV_QP_INIT_ATTR_XRCD());
            var domain = XrcDomainObject.of(ibv_qp_init_attr_ex.xrcd(attributes).address());
            ErrnoException.throwIf(
                    present == 0 || domain.context() != ContextObject.of(context), Errno.EINVAL);
            return QueuePairObject.receiving(domain, plain).structure().address();
        }
        requireKnown(
                present, rdma_h.IBV_QP_INIT_ATTR_PD() | rdma_h.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS());
        var domain = ProtectionDomainObject.of(ibv_qp_init_attr_ex.pd(attributes).address());
        ErrnoException.throwIf(
                (present & rdma_h.IBV_QP_INIT_ATTR_PD()) == 0
                        || domain.context() != ContextObject.of(context),
                Errno.EINVAL);
        var extended = (present & rdma_h.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS()) != 0;
        if (extended) {
            ExtendedSends.requireSupported(
                    ibv_qp_init_attr_ex.qp_type(attributes),
                    ibv_qp_init_attr_ex.send_ops_flags(attributes));
        }
        return new QueuePairObject(domain, plain, extended).structure().address();
    }

    @Exported(value = "modify_cq", failure = ErrorConvention.ERRNO)
    static int modifyCompletionQueue(long queue, long requested) {
        var attributes = CallerMemory.at(requested, ibv_modify_cq_attr.layout());
        requireKnown(ibv_modify_cq_attr.attr_mask(attributes), rdma_h.IBV_CQ_ATTR_MODERATE());
        if (ibv_modify_cq_attr.attr_mask(attributes) != 0) {
            var moderation = ibv_modify_cq_attr.moderate(attributes);
            CompletionQueueObject.of(queue)
                    .moderate(
                            Short.toUnsignedInt(ibv_moderate_cq.cq_count(moderation)),
                            Short.toUnsignedInt(ibv_moderate_cq.cq_period(moderation)));
        }
        return 0;
    }

    @Exported(value = "alloc_td", failure = ErrorConvention.NULL)
    static long allocateThreadDomain(long context, long requested) {
        requireKnown(
                ibv_td_init_attr.comp_mask(CallerMemory.at(requested, ibv_td_init_attr.layout())),
                0);
        return new ThreadDomainObject(ContextObject.of(context)).structure().address();
    }

    @Exported(value = "dealloc_td", failure = ErrorConvention.ERRNO)
    static int deallocateThreadDomain(long threads) {
        ThreadDomainObject.of(threads).destroy();
        return 0;
    }

    /**
     * Implements {@code ibv_alloc_parent_domain}. Fails if the caller passes its own memory
     * allocator, because such an allocator would have no effect: Java allocates all memory.
     */
    @Exported(value = "alloc_parent_domain", failure = ErrorConvention.NULL)
    static long allocateParentDomain(long context, long requested) {
        var attributes = CallerMemory.at(requested, ibv_parent_domain_init_attr.layout());
        requireKnown(ibv_parent_domain_init_attr.comp_mask(attributes), 0);
        var domain =
                ProtectionDomainObject.of(ibv_parent_domain_init_attr.pd(attributes).address());
        var threads = ibv_parent_domain_init_attr.td(attributes).address();
        ErrnoException.throwIf(domain.context() != ContextObject.of(context), Errno.EINVAL);
        return new ProtectionDomainObject(
                        domain, threads == 0 ? null : ThreadDomainObject.of(threads))
                .structure()
                .address();
    }

    /**
     * Checks that a bit mask contains only known bits.
     *
     * @throws ErrnoException with {@code EOPNOTSUPP} if it contains other bits
     */
    static void requireKnown(int bits, int known) {
        ErrnoException.throwIf((bits & ~known) != 0, Errno.EOPNOTSUPP);
    }

    private static void copy(MemorySegment values, long target, long bytes) {
        var known = Math.min(bytes, values.byteSize());
        CallerMemory.at(target, bytes).copyFrom(values.asSlice(0, known));
    }
}
