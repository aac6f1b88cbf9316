package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** Resolves the address and the route of an {@link Identifier}. */
final class RouteResolution {

    private RouteResolution() {}

    /**
     * Resolves a route. The returned route owns the {@link Identifier}, which is closed if this
     * method fails.
     *
     * @param local the local address; null if the system chooses the address
     */
    static Route resolve(
            Identifier identifier,
            @Nullable InetSocketAddress local,
            InetSocketAddress peer,
            Deadline deadline)
            throws FabricException, InterruptedIOException {
        try {
            resolveIdentifier(identifier, local, peer, deadline);
            return new Route(identifier);
        } catch (Throwable e) {
            identifier.close();
            throw e;
        }
    }

    /**
     * Resolves the address and the route of an {@link Identifier}. If this method fails, the
     * identifier stays open.
     *
     * @param local the local address; null if the system chooses the address
     */
    static void resolveIdentifier(
            Identifier identifier,
            @Nullable InetSocketAddress local,
            InetSocketAddress peer,
            Deadline deadline)
            throws FabricException, InterruptedIOException {
        if (peer.getPort() == 0) {
            throw new IllegalArgumentException(
                    "Cannot connect to port 0 of %s: port 0 is valid for listening only, where it selects a free port."
                            .formatted(peer.getHostString()));
        }
        identifier.resolveAddress(local, peer, kernelTimeout(deadline));
        var peerText = AddressText.of(peer);
        var address = peerText + (local == null ? "" : " from " + local.getHostString());
        await(
                ConnectionEvent.AddressResolved.class,
                identifier,
                deadline,
                "rdma_resolve_addr",
                "Cannot resolve the address " + address,
                "The address %s was not resolved".formatted(address));
        identifier.resolveRoute(kernelTimeout(deadline));
        await(
                ConnectionEvent.RouteResolved.class,
                identifier,
                deadline,
                "rdma_resolve_route",
                "Cannot resolve the route to " + peerText,
                "The route to %s was not resolved".formatted(peerText));
    }

    /**
     * Returns the timeout to pass to the kernel. It expires one second after the caller's deadline,
     * so that the SDK detects the timeout first and reports it.
     */
    private static Duration kernelTimeout(Deadline deadline) {
        return Duration.ofNanos(Math.max(0, deadline.remainingNanos())).plusSeconds(1);
    }

    /**
     * Waits for the event that reports the success or failure of a step, and checks its type.
     *
     * @param failure the start of the exception message if the step fails
     * @param timedOut the start of the exception message if the step times out; the message ends
     *     with "within" and the timeout
     */
    static <E extends ConnectionEvent> E await(
            Class<E> expected,
            Identifier identifier,
            Deadline deadline,
            String function,
            String failure,
            String timedOut)
            throws FabricException, InterruptedIOException {
        var event = identifier.events().awaitOutcome(deadline, function, failure, timedOut);
        if (!expected.isInstance(event)) {
            throw new VerbsException(function, "%s: unexpected event %s".formatted(failure, event));
        }
        return expected.cast(event);
    }
}
