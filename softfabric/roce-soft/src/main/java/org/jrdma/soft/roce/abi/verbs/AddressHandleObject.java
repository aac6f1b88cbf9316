package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_ah;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.engine.RoceGid;

/** The implementation of an {@code ibv_ah}, an address handle: the destination of datagrams. */
final class AddressHandleObject extends ContextResource {

    private final ProtectionDomainObject domain;
    private final RoceGid destination;

    AddressHandleObject(ProtectionDomainObject domain, RoceGid destination) {
        super(domain.context(), ibv_ah.layout());
        this.domain = domain;
        this.destination = destination;
        ibv_ah.context(structure(), domain.context().address());
        ibv_ah.pd(structure(), domain.structure());
        domain.users().add();
        domain.context().own(this);
    }

    static AddressHandleObject of(long address) {
        return StructureRegistry.object(address, AddressHandleObject.class);
    }

    ProtectionDomainObject domain() {
        return domain;
    }

    RoceGid destination() {
        return destination;
    }

    @Override
    void destroy() {
        super.destroy();
        domain.users().remove();
    }
}
