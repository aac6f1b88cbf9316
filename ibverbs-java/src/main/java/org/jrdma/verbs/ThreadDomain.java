package org.jrdma.verbs;

import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.model.VerbsException;

/**
 * A thread domain, which the program assigns to a {@linkplain
 * ProtectionDomain#newParentDomainUnguarded parent domain}. The program guarantees that only one
 * thread at a time uses the objects of this parent domain, so the provider can access them without
 * locks. The provider can also let these objects share resources.
 *
 * <p>Owned by its {@link Device}. In C: {@code struct ibv_td}; {@link #close()} is {@code
 * ibv_dealloc_td}.
 */
public final class ThreadDomain extends NativeObject {

    private final DeviceHandle device;
    private final NativeResource threads;

    ThreadDomain(DeviceHandle device) throws VerbsException {
        this(device, device.call(() -> allocate(device)));
    }

    private ThreadDomain(DeviceHandle device, NativeResource threads) {
        super(threads.address(), threads.lifetime());
        this.device = device;
        this.threads = threads;
    }

    private static NativeResource allocate(DeviceHandle device) throws VerbsException {
        var functions = device.library().domains();
        var context = device.context();
        var address =
                functions.allocateThreadDomain(
                        context,
                        new CheckedCall(
                                "ibv_alloc_td",
                                () -> "on " + device.name(),
                                errno ->
                                        errno == Errno.EOPNOTSUPP
                                                ? "The device does not support thread domains."
                                                : ""));
        var name = "thread domain %x of %s".formatted(address.address(), device.name());
        return NativeResource.of(
                address,
                name,
                List.of(device.lifetime()),
                "ibv_dealloc_td",
                (made, attempt) -> functions.deallocateThreadDomain(context, made, attempt));
    }

    /**
     * Returns the native thread domain, for the creation of a parent domain. Checks that both
     * belong to the same device.
     */
    NativeResource threadsFor(DomainHandle domain) {
        if (device != domain.device()) {
            throw new IllegalArgumentException(
                    "%s does not belong to %s".formatted(this, domain.device()));
        }
        return threads;
    }
}
