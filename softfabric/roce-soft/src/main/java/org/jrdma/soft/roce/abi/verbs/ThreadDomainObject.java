package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_td;
import org.jrdma.soft.roce.abi.StructureRegistry;

/**
 * The implementation of an {@code ibv_td}, a thread domain. It exists only because programs may
 * create one: a thread domain has no effect in this library.
 */
final class ThreadDomainObject extends ContextResource {

    ThreadDomainObject(ContextObject context) {
        super(context, ibv_td.layout());
        ibv_td.context(structure(), context.address());
        context.own(this);
    }

    static ThreadDomainObject of(long address) {
        return StructureRegistry.object(address, ThreadDomainObject.class);
    }
}
