package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_srq_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;

/** The functions of libibverbs for shared receive queues. */
final class SharedReceiveQueueExports {

    private SharedReceiveQueueExports() {}

    @Exported(value = "ibv_create_srq", failure = ErrorConvention.NULL)
    static long create(long domain, long requested) {
        return new SharedReceiveQueueObject(
                        ProtectionDomainObject.of(domain),
                        CallerMemory.at(requested, ibv_srq_init_attr.layout()),
                        null)
                .structure()
                .address();
    }

    @Exported(value = "ibv_modify_srq", failure = ErrorConvention.ERRNO)
    static int modify(long queue, long attributes, int mask) {
        SharedReceiveQueueObject.of(queue)
                .modify(CallerMemory.at(attributes, ibv_srq_attr.layout()), mask);
        return 0;
    }

    @Exported(value = "ibv_query_srq", failure = ErrorConvention.ERRNO)
    static int query(long queue, long target) {
        SharedReceiveQueueObject.of(queue).query(CallerMemory.at(target, ibv_srq_attr.layout()));
        return 0;
    }

    @Exported(value = "ibv_destroy_srq", failure = ErrorConvention.ERRNO)
    static int destroy(long queue) {
        var found = SharedReceiveQueueObject.of(queue);
        found.stop();
        found.asyncEvents().awaitNone();
        found.destroy();
        return 0;
    }
}
