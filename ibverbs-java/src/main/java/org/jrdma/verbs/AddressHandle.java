package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.VerbsException;

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
        this(domain, vector, make(domain, vector, List.of(domain.ownLifetime())));
    }

    private AddressHandle(ProtectionDomain domain, AddressVector vector, Made made) {
        super(made.address, made.lifetime);
        this.domain = domain;
        this.vector = vector;
        this.nativeAddress = made.address.address();
    }

    /** The native address handle, and the lifetime that ends it. */
    record Made(MemorySegment address, Lifetime lifetime) {}

    /** Makes the native address handle. The domain is among the owners. */
    static Made make(ProtectionDomain domain, AddressVector vector, List<Lifetime> owners)
            throws VerbsException {
        var device = domain.device();
        var functions = device.library().datagrams();
        Lifetime.holdAll(owners);
        try {
            var address =
                    PlatformCalls.call(
                            () -> // it may wait for the network to find the peer
                            functions.createHandle(
                                            domain.address(),
                                            vector,
                                            new Attempt(
                                                    "ibv_create_ah",
                                                    () ->
                                                            "for %s on %s"
                                                                    .formatted(
                                                                            vector, device.name()),
                                                    QueuePair::adviceOnAddress)));
            var name = "address handle %x of %s".formatted(address.address(), device.name());
            return new Made(
                    address,
                    new Lifetime(
                            name,
                            owners,
                            () ->
                                    functions.destroyHandle(
                                            address,
                                            Attempt.to("ibv_destroy_ah", () -> "for " + name))));
        } finally {
            owners.forEach(Lifetime::release);
        }
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

    Lifetime ownLifetime() {
        return lifetime();
    }
}
