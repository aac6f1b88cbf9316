package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.Optional;

/**
 * An operation or a socket transport that the command can measure, such as RDMA WRITE or TCP.
 *
 * @param name the name on the command line
 * @param description the description in the output
 * @param provider the fabric and device that the path uses
 * @param smallest the smallest message in bytes
 * @param largest the largest message in bytes
 * @param isRoundTrip true if an exchange is a round trip; the latency is then half of its duration
 * @param opener the function that opens one side of the path
 */
record Path(
        String name,
        String description,
        PathDeviceAndAvailability provider,
        int smallest,
        int largest,
        boolean isRoundTrip,
        Opener opener) {

    /** Creates a path over sockets. */
    Path(
            String name,
            String description,
            int smallest,
            int largest,
            boolean isRoundTrip,
            Optional<String> missing,
            Opener opener) {
        this(
                name,
                description,
                PathDeviceAndAvailability.ofSockets(missing),
                smallest,
                largest,
                isRoundTrip,
                opener);
    }

    /** Opens one side of a path while the peer opens the other side. */
    @FunctionalInterface
    interface Opener {
        /**
         * Opens one side.
         *
         * @param peer the connection over which both sides exchange addresses
         * @param largest the size of the largest message in bytes
         * @param measures true if this is the measuring side
         */
        LinkEnd open(ControlChannel peer, int largest, boolean measures) throws IOException;
    }

    /**
     * Returns a copy of this path for a peer on another machine. It is unavailable if its device
     * cannot reach other machines.
     */
    Path toRemotePeer() {
        return new Path(
                name, description, provider.toRemotePeer(), smallest, largest, isRoundTrip, opener);
    }

    /** Returns the reason why the path is unavailable, or empty if it is available. */
    Optional<String> missing() {
        return provider.missing();
    }

    /** Returns the supported message sizes as text. */
    String range() {
        return "%s to %s bytes".formatted(Size.toString(smallest), Size.toString(largest));
    }

    boolean supports(int bytes) {
        return smallest <= bytes && bytes <= largest;
    }
}
