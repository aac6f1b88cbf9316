package org.jrdma.interop.events;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import org.jrdma.interop.AbstractRdmaCoreToolProgram;
import org.jrdma.verbs.cm.model.PortSpace;
import picocli.CommandLine.Option;

/** The options that the programs of librdmacm with event channels have in common. */
abstract class AbstractEventChannelProgram extends AbstractRdmaCoreToolProgram {

    /** The maximum time to wait for the next step of the other side. */
    static final Duration STEP_TIMEOUT = Duration.ofSeconds(30);

    static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    @Option(
            names = "-b",
            paramLabel = "ADDRESS",
            description = "the address of the RDMA device to use")
    String bind = "";

    @Option(
            names = "-P",
            paramLabel = "PORT_SPACE",
            description = "the port space: ${COMPLETION-CANDIDATES}")
    PortSpace portSpace;

    @Option(
            names = "-c",
            paramLabel = "COUNT",
            description = "number of connections or queue pairs, on both sides (${DEFAULT-VALUE})")
    int connections = 1;

    @Option(
            names = "-C",
            paramLabel = "COUNT",
            description = "number of messages on each connection (${DEFAULT-VALUE})")
    int messages = 10;

    @Option(
            names = "-S",
            paramLabel = "BYTES",
            description = "message size in bytes (${DEFAULT-VALUE})")
    int bytes = 100;

    AbstractEventChannelProgram(PortSpace portSpace) {
        this.portSpace = portSpace;
    }

    /**
     * Throws a usage error for option values that the corresponding C program of librdmacm also
     * rejects.
     *
     * @param datagrams true if the program sends datagrams
     */
    void checkOptions(boolean datagrams) {
        checkRange("-c", connections, 1, 10_000);
        checkRange("-C", messages, 0, 10_000);
        checkRange("-S", bytes, 0, 1 << 30);
        if (portSpace.isDatagram() != datagrams) {
            throw usageError(
                    "This program does not support the port space %s."
                            .formatted(portSpace.name().toLowerCase(Locale.ROOT)));
        }
        if (bytes == 0) {
            messages = 0;
        }
    }

    /** Returns the port space with a number in C. Fails if the program does not support it. */
    final PortSpace portSpaceOf(int number) {
        return switch (number) {
            case 0x0111 -> PortSpace.UDP;
            case 0x0002 -> PortSpace.IPOIB;
            default ->
                    throw usageError(
                            "This program does not support the port space " + number + ".");
        };
    }

    static InetSocketAddress address(String host, int port) throws IOException {
        var address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new IOException("There is no host named " + host + ".");
        }
        return address;
    }

    /**
     * Returns the address to listen at: the address of the option {@code -b}, or the wildcard
     * address without that option.
     */
    final InetSocketAddress listenAddress(int port) throws IOException {
        return address(bind.isEmpty() ? "0.0.0.0" : bind, port);
    }
}
