package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.Transport;

/**
 * The implementations of channels that the conformance tests run with. The channels of the JDK are
 * the reference.
 */
enum Implementation {
    JDK("", SelectorProvider.provider(), List.of()),
    TCP("tcp", List.of(Transports.tcp())),

    /**
     * The SuperSockets transport without its driver. It uses the address family of IPv4 in place of
     * the family of the driver.
     */
    SUPERSOCKETS(
            "supersockets", List.of(Transports.supersockets(familyFile("2\n")), Transports.tcp())),

    /**
     * The SISCI transport on one node of the software fabric. The peer runs in this process or in a
     * child process.
     */
    SISCI(
            "sisci",
            List.of(InProcessSoftwareSisciNode.sharedNode().transport(""), Transports.tcp())),

    /**
     * The rsocket transport. It requires a kernel with RDMA devices, as in the guest, and uses the
     * address of one of the devices.
     */
    RSOCKET("rsocket", List.of(Transports.rsocket(), Transports.tcp())),

    /**
     * The SMC transport. It requires a kernel with SMC, as in the guest, and uses the SMC loopback
     * device.
     */
    SMC("smc", List.of(Transports.smc(), Transports.tcp())),

    /**
     * The SuperSockets transport with the address family of SMC. Like the family of the
     * SuperSockets driver, that family is not the one of IPv4.
     */
    SUPERSOCKETS_OVER_SMC(
            "supersockets", List.of(Transports.supersockets(familyFile("43\n")), Transports.tcp()));

    private static final Set<Implementation> REAL_KERNEL =
            Set.of(RSOCKET, SMC, SUPERSOCKETS_OVER_SMC);

    private static final String PROPERTY = "jrdma.test.implementations";

    /**
     * The name of the transport in {@link Connection#transport}, or an empty string for the JDK.
     */
    private final String transport;

    @SuppressWarnings("ImmutableEnumChecker") // The visible state does not change.
    private final SelectorProvider provider;

    @SuppressWarnings("ImmutableEnumChecker") // The list is immutable.
    private final List<Transport> transports;

    Implementation(String transport, List<Transport> transports) {
        this(transport, new FabricSelectorProvider(transports), transports);
    }

    Implementation(String transport, SelectorProvider provider, List<Transport> transports) {
        this.transport = transport;
        this.provider = provider;
        this.transports = transports;
    }

    /**
     * Returns the implementations that the system property {@code jrdma.test.implementations}
     * names, or by default those that need no device of the kernel.
     */
    static Stream<Implementation> offered() {
        var named = System.getProperty(PROPERTY);
        return named == null
                ? Arrays.stream(values()).filter(each -> !REAL_KERNEL.contains(each))
                : Arrays.stream(named.split(",", -1))
                        .map(Implementation::valueOf)
                        .peek(Implementation::prepare);
    }

    private void prepare() {
        if (this == SMC || this == SUPERSOCKETS_OVER_SMC) {
            try {
                SmcUeidSetup.ensure();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    SelectorProvider provider() {
        return provider;
    }

    SocketFactory socketFactory() {
        return this == JDK ? SocketFactory.getDefault() : new FabricSocketFactory(transports);
    }

    ServerSocketFactory serverSocketFactory() {
        return this == JDK
                ? ServerSocketFactory.getDefault()
                : new FabricServerSocketFactory(transports);
    }

    /**
     * Asserts that a connected channel uses the transport of this implementation. Without this
     * check, all tests would also pass with a fallback to TCP.
     */
    void assertTransport(SocketChannel channel) {
        if (!usesTransport(channel)) {
            fail("%s; expected transport: %s".formatted(OpenConnections.of(channel), transport));
        }
    }

    /** Returns true if a channel uses the transport of this implementation. */
    boolean usesTransport(SocketChannel channel) {
        return this == JDK || OpenConnections.of(channel).transport().equals(transport);
    }

    /**
     * Returns the number of attempts to connect. Several attempts are necessary for rsockets: a
     * busy software device of the kernel may not respond in time, and then the fallback to TCP is
     * correct.
     */
    int tries() {
        return this == RSOCKET ? 5 : 1;
    }

    /** Returns true if this implementation has a documented difference from the JDK. */
    boolean differsIn(Difference difference) {
        return this != JDK && difference.transports().contains(this);
    }

    /**
     * Creates a file with an address family, like the file that the SuperSockets driver provides.
     */
    static Path familyFile(String content) {
        try {
            var file = Files.createTempFile("family", "");
            file.toFile().deleteOnExit();
            return Files.writeString(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
