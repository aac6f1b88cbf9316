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
 * Whose channels a conformance test tries. The JDK's are the reference: what is stated of the
 * others is stated of them first.
 */
enum Implementation {
    JDK("", SelectorProvider.provider(), List.of()),
    TCP("tcp", List.of(Transports.tcp())),

    /** The transport as a whole, without the driver: its family has the number of IPv4. */
    SUPERSOCKETS(
            "supersockets", List.of(Transports.supersockets(familyFile("2\n")), Transports.tcp())),

    /** Both ends on one node of the software fabric, in this process or in a child of it. */
    SISCI("sisci", List.of(SisciNodes.oneForAllProcesses().transport(""), Transports.tcp())),

    /** Where a kernel has RDMA devices, in the guest, and at an address of one of them. */
    RSOCKET("rsocket", List.of(Transports.rsocket(), Transports.tcp())),

    /**
     * Where a kernel has SMC: in the guest, through the memory that it shares with itself, its
     * loopback device.
     */
    SMC("smc", List.of(Transports.smc(), Transports.tcp())),

    /** SuperSockets' code with a family that is not IPv4, as the driver's is none: SMC's. */
    SUPERSOCKETS_OF_SMC(
            "supersockets", List.of(Transports.supersockets(familyFile("43\n")), Transports.tcp()));

    private static final Set<Implementation> OF_A_REAL_KERNEL =
            Set.of(RSOCKET, SMC, SUPERSOCKETS_OF_SMC);

    private static final String PROPERTY = "jrdma.test.implementations";

    /** As {@link Connection#transport} has it; none of the JDK's. */
    private final String transport;

    @SuppressWarnings("ImmutableEnumChecker") // nothing that a test sees of it changes
    private final SelectorProvider provider;

    @SuppressWarnings("ImmutableEnumChecker") // nor of these
    private final List<Transport> transports;

    Implementation(String transport, List<Transport> transports) {
        this(transport, new FabricSelectorProvider(transports), transports);
    }

    Implementation(String transport, SelectorProvider provider, List<Transport> transports) {
        this.transport = transport;
        this.provider = provider;
        this.transports = transports;
    }

    /** Those that this run is to try: all that need no device, unless a property names others. */
    static Stream<Implementation> offered() {
        var named = System.getProperty(PROPERTY);
        return named == null
                ? Arrays.stream(values()).filter(each -> !OF_A_REAL_KERNEL.contains(each))
                : Arrays.stream(named.split(",", -1))
                        .map(Implementation::valueOf)
                        .peek(Implementation::prepare);
    }

    private void prepare() {
        if (this == SMC || this == SUPERSOCKETS_OF_SMC) {
            try {
                SmcIdentifier.give();
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
     * Fails unless the bytes of a connected channel go the way that this is named for: TCP, which
     * they fall back to, would pass all the tests in its place.
     */
    void assertTaken(SocketChannel channel) {
        if (!isTaken(channel)) {
            fail("%s, where %s was to be taken".formatted(Connections.of(channel), transport));
        }
    }

    /** Whether they do. */
    boolean isTaken(SocketChannel channel) {
        return this == JDK || Connections.of(channel).transport().equals(transport);
    }

    /**
     * How often to connect until they do. The kernel's software device, when all else is busy, may
     * not answer in time; then it is right to fall back.
     */
    int tries() {
        return this == RSOCKET ? 5 : 1;
    }

    /** Whether this is known to differ from the JDK in a point that is listed. */
    boolean differsIn(Difference difference) {
        return this != JDK && difference.transports().contains(this);
    }

    /** A file as the driver publishes it. */
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
