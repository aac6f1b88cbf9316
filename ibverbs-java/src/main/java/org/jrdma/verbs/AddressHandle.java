package org.jrdma.verbs;

import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeQueuePair;

/**
 * An address handle: the resolved path to a port or multicast group. Any number of datagrams can
 * use it.
 *
 * <p>Owned by its {@link ProtectionDomain} and closed with it. Safe for use by multiple threads.
 * Close an address handle only after the messages sent with it have completed, because a device may
 * drop messages that it has not yet sent. In C: {@code struct ibv_ah}; {@link #close()} is {@code
 * ibv_destroy_ah}.
 */
public final class AddressHandle extends NativeObject {

    private final ProtectionDomain domain;
    private final AddressVector vector;
    private final long nativeAddress;

    AddressHandle(ProtectionDomain domain, AddressVector vector) throws VerbsException {
        this(
                domain,
                vector,
                make(domain.domainHandle(), vector, List.of(domain.domainHandle().lifetime())));
    }

    private AddressHandle(ProtectionDomain domain, AddressVector vector, NativeResource made) {
        super(made.address(), made.lifetime());
        this.domain = domain;
        this.vector = vector;
        this.nativeAddress = made.address().address();
    }

    /**
     * Creates a native address handle.
     *
     * @param owners the lifetimes of the objects whose close also closes the address handle. At
     *     least one must be that of the domain or of an object that the domain owns
     */
    static NativeResource make(DomainHandle domain, AddressVector vector, List<Lifetime> owners)
            throws VerbsException {
        var device = domain.device();
        var functions = device.library().datagrams();
        return GuardedCalls.call( // address resolution may block
                owners,
                () -> {
                    var address =
                            functions.createHandle(
                                    domain.address(),
                                    vector,
                                    new CheckedCall(
                                            "ibv_create_ah",
                                            () -> "for %s on %s".formatted(vector, device.name()),
                                            NativeQueuePair::adviceOnAddress));
                    var name =
                            "address handle %x of %s".formatted(address.address(), device.name());
                    return NativeResource.of(
                            address, name, owners, "ibv_destroy_ah", functions::destroyHandle);
                });
    }

    /** The protection domain. Only queue pairs of the same domain can use the address handle. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** The address that this handle was created from. */
    public AddressVector vector() {
        return vector;
    }

    /**
     * The native address of the {@code ibv_ah}. A caller that holds the lifetime can use it until
     * it releases the hold, even if another thread closes this object.
     */
    long nativeAddress() {
        return nativeAddress;
    }

    DomainHandle domainHandle() {
        return domain.domainHandle();
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
