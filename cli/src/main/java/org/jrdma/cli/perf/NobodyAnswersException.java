package org.jrdma.cli.perf;

import java.io.IOException;
import java.net.InetSocketAddress;

/** There is no other side, whatever is to be measured. */
final class NobodyAnswersException extends IOException {

    private static final long serialVersionUID = 1L;

    NobodyAnswersException(InetSocketAddress address, IOException cause) {
        super(
                "Nobody answers at %s: %s. Start \"jrdma perf --serve\" there first."
                        .formatted(address, cause.getMessage()),
                cause);
    }

    NobodyAnswersException(String host) {
        super("There is no host named %s.".formatted(host));
    }
}
