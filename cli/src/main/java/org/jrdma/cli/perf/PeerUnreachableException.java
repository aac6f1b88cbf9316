package org.jrdma.cli.perf;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrdma.ffi.AddressText;

/** Thrown if the peer cannot be reached, so that no path can be measured. */
final class PeerUnreachableException extends IOException {

    private static final long serialVersionUID = 1L;

    PeerUnreachableException(InetSocketAddress address, IOException cause) {
        super(
                "Cannot connect to %s: %s. Start \"jrdma perf --serve\" there first."
                        .formatted(AddressText.of(address), cause.getMessage()),
                cause);
    }

    PeerUnreachableException(String host) {
        super("There is no host named %s.".formatted(host));
    }
}
