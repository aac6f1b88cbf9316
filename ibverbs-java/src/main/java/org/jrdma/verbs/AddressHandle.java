package org.jrdma.verbs;

import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.HeldCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeQueuePair;

/**
 * The way to a port, or to a multicast group, resolved once and used for any number of datagrams.
 *
 * <p>Owned by its {@link ProtectionDomain} and closed with it. Safe for use by several threads.
 * Close it when what was sent with it has completed: a device may drop what is still to be sent. In
 * C: {@code struct ibv_ah}; {@link #close()} is {@code ibv_destroy_ah}.
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

    /** Makes a native address handle. The domain is owned by the owners, or is among them. */
    static NativeResource make(DomainHandle domain, AddressVector vector, List<Lifetime> owners)
            throws VerbsException {
        var device = domain.device();
        var functions = device.library().datagrams();
        return HeldCalls.call( // it may wait for the network to find the peer
                owners,
                () -> {
                    var address =
                            functions.createHandle(
                                    domain.address(),
                                    vector,
                                    new Attempt(
                                            "ibv_create_ah",
                                            () -> "for %s on %s".formatted(vector, device.name()),
                                            NativeQueuePair::adviceOnAddress));
                    var name =
                            "address handle %x of %s".formatted(address.address(), device.name());
                    return NativeResource.of(
                            address, name, owners, "ibv_destroy_ah", functions::destroyHandle);
                });
    }

    /** The domain it belongs to, whose queue pairs alone can use it. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** The way that it was made from. */
    public AddressVector vector() {
        return vector;
    }

    /** Where it is in C, also while it is being closed: for callers whom close() waits for. */
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
