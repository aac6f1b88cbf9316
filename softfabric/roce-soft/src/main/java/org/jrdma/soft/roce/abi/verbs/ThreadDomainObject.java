package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_td;
import org.jrdma.soft.roce.abi.Structures;

/** The object of an {@code ibv_td}. A thread domain has no effect on performance here. */
final class ThreadDomainObject extends ContextResource {

    ThreadDomainObject(ContextObject context) {
        super(context, ibv_td.layout());
        ibv_td.context(structure(), context.address());
        context.own(this);
    }

    static ThreadDomainObject of(long address) {
        return Structures.object(address, ThreadDomainObject.class);
    }
}
