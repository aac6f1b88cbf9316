package org.jrdma.cli.perf;

import java.io.IOException;
import java.net.InetSocketAddress;

/** Thrown if the peer cannot be reached, so that no path can be measured. */
final class PeerUnreachableException extends IOException {

    private static final long serialVersionUID = 1L;

    PeerUnreachableException(InetSocketAddress address, IOException cause) {
        super(
                "Cannot connect to %s:%d: %s. Start \"jrdma perf --serve\" there first."
                        .formatted(address.getHostString(), address.getPort(), cause.getMessage()),
                cause);
    }

    PeerUnreachableException(String host) {
        super("There is no host named %s.".formatted(host));
    }
}
