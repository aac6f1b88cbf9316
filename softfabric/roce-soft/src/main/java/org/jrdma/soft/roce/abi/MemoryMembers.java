package org.jrdma.soft.roce.abi;

import org.jrdma.abi.rdma.ibv_mw_bind;

/** The functions of memory windows, which C finds in a context. */
final class MemoryMembers {

    private MemoryMembers() {}

    @Exported(value = "alloc_mw", failure = Failure.NULL)
    static long allocateWindow(long domain, int type) {
        return new WindowObject(DomainObject.of(domain), type).structure().address();
    }

    @Exported(value = "bind_mw", failure = Failure.ERRNO)
    static int bindWindow(long queuePair, long window, long wanted) {
        return QueuePairObject.of(queuePair)
                .bind(WindowObject.of(window), Memory.at(wanted, ibv_mw_bind.layout()));
    }

    @Exported(value = "dealloc_mw", failure = Failure.ERRNO)
    static int deallocateWindow(long window) {
        WindowObject.of(window).destroy();
        return 0;
    }
}
