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
 * The channels that a conformance test uses. The JDK's channels are the reference: each test runs
 * with them too.
 */
enum Implementation {
    JDK("", SelectorProvider.provider(), List.of()),
    TCP("tcp", List.of(Transports.tcp())),

    /** The complete transport without the driver: the address family is that of IPv4. */
    SUPERSOCKETS(
            "supersockets", List.of(Transports.supersockets(familyFile("2\n")), Transports.tcp())),

    /** Both ends on one node of the software fabric, in this process or in a child process. */
    SISCI("sisci", List.of(SisciNodes.sharedNode().transport(""), Transports.tcp())),

    /** Requires a kernel with RDMA devices, in the guest, and uses the address of one of them. */
    RSOCKET("rsocket", List.of(Transports.rsocket(), Transports.tcp())),

    /** Requires a kernel with SMC, in the guest. Uses the SMC loopback device. */
    SMC("smc", List.of(Transports.smc(), Transports.tcp())),

    /**
     * The SuperSockets transport with the address family of SMC, because the driver's family is not
     * that of IPv4 either.
     */
    SUPERSOCKETS_OVER_SMC(
            "supersockets", List.of(Transports.supersockets(familyFile("43\n")), Transports.tcp()));

    private static final Set<Implementation> REAL_KERNEL =
            Set.of(RSOCKET, SMC, SUPERSOCKETS_OVER_SMC);

    private static final String PROPERTY = "jrdma.test.implementations";

    /** The name in {@link Connection#transport}; empty for the JDK. */
    private final String transport;

    @SuppressWarnings("ImmutableEnumChecker") // its visible state does not change
    private final SelectorProvider provider;

    @SuppressWarnings("ImmutableEnumChecker") // the list is immutable
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
     * Returns the implementations of this run: those that need no device, unless a property names
     * others.
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
                SmcIdentifier.ensure();
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
     * Fails unless a connected channel uses the transport of this implementation. A fallback to TCP
     * would pass all tests.
     */
    void assertTransport(SocketChannel channel) {
        if (!usesTransport(channel)) {
            fail("%s; expected transport: %s".formatted(Connections.of(channel), transport));
        }
    }

    /** Returns true if a channel uses the transport of this implementation. */
    boolean usesTransport(SocketChannel channel) {
        return this == JDK || Connections.of(channel).transport().equals(transport);
    }

    /**
     * Returns the number of attempts to connect. A busy software device of the kernel may not
     * respond in time, so that a fallback to TCP is correct.
     */
    int tries() {
        return this == RSOCKET ? 5 : 1;
    }

    /** Returns true if this implementation is known to have a difference. */
    boolean differsIn(Difference difference) {
        return this != JDK && difference.transports().contains(this);
    }

    /** Creates a file like the one that the driver publishes. */
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
