package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** The steps from an identifier to a route: resolution of the address, and of the path. */
final class RouteResolution {

    private RouteResolution() {}

    /**
     * Resolves the route of an identifier, which the route owns; a failure closes the identifier.
     *
     * @param local null for any local address
     */
    static Route resolve(
            Identifier identifier,
            @Nullable InetSocketAddress local,
            InetSocketAddress peer,
            Deadline deadline)
            throws FabricException, InterruptedIOException {
        var done = false;
        try {
            find(identifier, local, peer, deadline);
            var route = new Route(identifier);
            done = true;
            return route;
        } finally {
            if (!done) {
                identifier.close();
            }
        }
    }

    /**
     * Resolves the address and the path of an identifier.
     *
     * @param local null for any local address
     */
    static void find(
            Identifier identifier,
            @Nullable InetSocketAddress local,
            InetSocketAddress peer,
            Deadline deadline)
            throws FabricException, InterruptedIOException {
        if (peer.getPort() == 0) {
            throw new IllegalArgumentException(
                    "Nobody listens at port 0 of %s: it stands for any port, where one listens"
                            .formatted(peer.getAddress()));
        }
        identifier.resolveAddress(local, peer, beyond(deadline));
        var noWay =
                "No way to the address "
                        + peer
                        + (local == null ? "" : " from " + local.getAddress());
        await(
                ConnectionEvent.AddressResolved.class,
                identifier,
                deadline,
                "rdma_resolve_addr",
                noWay,
                noWay + " was found");
        identifier.resolveRoute(beyond(deadline));
        var noRoute = "No route to " + peer;
        await(
                ConnectionEvent.RouteResolved.class,
                identifier,
                deadline,
                "rdma_resolve_route",
                noRoute,
                noRoute + " was found");
    }

    /** A timeout for the kernel that expires after the caller's deadline. */
    private static Duration beyond(Deadline deadline) {
        return Duration.ofNanos(Math.max(0, deadline.remainingNanos())).plusSeconds(1);
    }

    /**
     * Waits for the outcome of a step.
     *
     * @param attempt the description of the step in a failure
     * @param missed the description of the step in a timeout
     */
    static <E extends ConnectionEvent> E await(
            Class<E> expected,
            Identifier identifier,
            Deadline deadline,
            String function,
            String attempt,
            String missed)
            throws FabricException, InterruptedIOException {
        var event = identifier.events().awaitAnswer(deadline, function, attempt, missed);
        if (!expected.isInstance(event)) {
            throw new VerbsException(function, "%s: %s".formatted(attempt, event));
        }
        return expected.cast(event);
    }
}
