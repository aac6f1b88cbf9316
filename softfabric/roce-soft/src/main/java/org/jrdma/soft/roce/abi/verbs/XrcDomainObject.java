package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_xrcd;
import org.jrdma.soft.roce.abi.StructureRegistry;

/** The implementation of an {@code ibv_xrcd}: an XRC domain that a context has open. */
final class XrcDomainObject extends ContextResource {

    private final XrcDomain domain;

    /**
     * Opens an XRC domain.
     *
     * @param descriptor the descriptor of the file that identifies the domain; -1 to create a
     *     domain without a file
     * @param flags the flags {@code O_CREAT} and {@code O_EXCL}, with the same meaning as for
     *     open(2)
     */
    XrcDomainObject(ContextObject context, int descriptor, int flags) {
        super(context, ibv_xrcd.layout());
        this.domain = context.device().xrcDomains().open(descriptor, flags);
        ibv_xrcd.context(structure(), context.address());
        context.own(this);
    }

    static XrcDomainObject of(long address) {
        return StructureRegistry.object(address, XrcDomainObject.class);
    }

    XrcDomain domain() {
        return domain;
    }

    @Override
    void destroy() {
        super.destroy();
        context().device().xrcDomains().close(domain);
    }
}
