package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_ah;
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.engine.Address;

/** Behind an {@code ibv_ah}: where datagrams go. */
final class AddressHandleObject implements ContextResource {

    private final ProtectionDomainObject domain;
    private final MemorySegment structure;
    private final Address destination;

    AddressHandleObject(ProtectionDomainObject domain, Address destination) {
        this.domain = domain;
        this.destination = destination;
        this.structure = Structures.allocate(ibv_ah.layout(), this);
        ibv_ah.context(structure, domain.context().address());
        ibv_ah.pd(structure, domain.structure());
        domain.users().add();
        domain.context().own(this);
    }

    static AddressHandleObject of(long address) {
        return Structures.object(address, AddressHandleObject.class);
    }

    MemorySegment structure() {
        return structure;
    }

    ProtectionDomainObject domain() {
        return domain;
    }

    Address destination() {
        return destination;
    }

    @Override
    public void destroy() {
        domain.users().remove();
        domain.context().disown(this);
        Structures.release(structure);
    }
}
