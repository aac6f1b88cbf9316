package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.model.VerbsException;

/**
 * A thread, as a device knows it: what is made for one thread, through a {@linkplain
 * ProtectionDomain#newParentDomainUnguarded parent domain}, needs no lock in the provider, and can
 * share what only that thread uses.
 *
 * <p>Owned by its {@link Device}. In C: {@code struct ibv_td}; {@link #close()} is {@code
 * ibv_dealloc_td}.
 */
public final class ThreadDomain extends NativeObject {

    private final Device device;

    ThreadDomain(Device device) throws VerbsException {
        this(device, device.inCall(() -> allocate(device)));
    }

    private ThreadDomain(Device device, Made made) {
        super(made.address, made.lifetime);
        this.device = device;
    }

    private record Made(MemorySegment address, Lifetime lifetime) {}

    private static Made allocate(Device device) throws VerbsException {
        var memory = device.library().memory();
        var context = device.context();
        var address =
                memory.allocateThreadDomain(
                        context,
                        new Attempt(
                                "ibv_alloc_td",
                                () -> "on " + device.name(),
                                errno ->
                                        errno == Errno.EOPNOTSUPP
                                                ? "The device has no thread domains."
                                                : ""));
        var name = "thread domain %x of %s".formatted(address.address(), device.name());
        return new Made(
                address,
                new Lifetime(
                        name,
                        List.of(device.ownLifetime()),
                        () ->
                                memory.deallocateThreadDomain(
                                        context,
                                        address,
                                        Attempt.to("ibv_dealloc_td", () -> "for " + name))));
    }

    /** The device it was made from. */
    public Device device() {
        return device;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
