package org.jrdma.volume.net;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.sockets.model.Transport;

/**
 * The transports that a node uses, and the limits that it applies to peers. Immutable: each method
 * returns a changed copy.
 *
 * <p>The system property {@code jrdma.fabric} selects the libraries of the transports verbs and
 * SISCI. The transports of sockets are those that supersockets-java selects, unless {@link
 * #streams} sets them.
 */
@CheckReturnValue
public final class NodeOptions {

    /** All transports: verbs, SISCI, sockets. */
    public static final NodeOptions ALL =
            of(TransportKind.VERBS, TransportKind.SISCI, TransportKind.SOCKETS);

    private static final int MAX_CALLS = 1024;
    private static final int MAX_BULK_BYTES = 1 << 30;

    List<TransportKind> transports;
    int calls = 16;
    int bulkBytes = 4 << 20;
    int connections = 256;
    Duration silence = Duration.ofSeconds(5);
    Optional<List<Transport>> streams = Optional.empty();
    InetSocketAddress socketAddress = new InetSocketAddress(0);
    InetSocketAddress verbsAddress = new InetSocketAddress(0);
    int sisciNumber;
    boolean datagramReads;

    private NodeOptions(List<TransportKind> transports) {
        this.transports = transports;
    }

    /** Returns options with the given transports, the most preferred first. */
    public static NodeOptions of(TransportKind... transports) {
        return new NodeOptions(List.of(transports));
    }

    private NodeOptions with(Consumer<NodeOptions> change) {
        var copy = new NodeOptions(transports);
        copy.calls = calls;
        copy.bulkBytes = bulkBytes;
        copy.connections = connections;
        copy.silence = silence;
        copy.streams = streams;
        copy.socketAddress = socketAddress;
        copy.verbsAddress = verbsAddress;
        copy.sisciNumber = sisciNumber;
        copy.datagramReads = datagramReads;
        change.accept(copy);
        return copy;
    }

    /** The transports, the most preferred first. */
    public List<TransportKind> transports() {
        return transports;
    }

    /** Replaces the transports. The most preferred is the first. */
    public NodeOptions transports(List<TransportKind> preferred) {
        return with(copy -> copy.transports = List.copyOf(preferred));
    }

    /**
     * Sets the number of calls of a peer that this node serves at the same time on a connection, 16
     * by default. It also limits the calls of this node. A peer that exceeds it is disconnected.
     */
    public NodeOptions calls(int count) {
        return with(copy -> copy.calls = check("calls", count, 1, MAX_CALLS));
    }

    /**
     * Sets the number of bytes that a connection reserves for the bulk data of incoming calls, 4
     * MiB by default. It is also the maximum for a single call. A peer whose calls need more memory
     * at the same time waits, and a peer that exceeds it is disconnected.
     */
    public NodeOptions bulkBytes(int bytes) {
        return with(copy -> copy.bulkBytes = check("bulkBytes", bytes, 4096, MAX_BULK_BYTES));
    }

    /** Sets the number of connections that a listener accepts at the same time, 256 by default. */
    public NodeOptions connections(int count) {
        return with(copy -> copy.connections = check("connections", count, 1, Integer.MAX_VALUE));
    }

    /**
     * Sets the time after which a connection ends if the peer sends nothing or accepts nothing, 5
     * seconds by default. An idle connection sends a message four times during this time.
     */
    public NodeOptions silence(Duration timeout) {
        var _ = check("silence in milliseconds", (int) timeout.toMillis(), 100, Integer.MAX_VALUE);
        return with(copy -> copy.silence = timeout);
    }

    /**
     * Sets the transports of {@link TransportKind#SOCKETS}, the most preferred first. By default
     * those that the properties and the policy file of supersockets-java select.
     */
    public NodeOptions streams(List<Transport> preferred) {
        return with(copy -> copy.streams = Optional.of(List.copyOf(preferred)));
    }

    /** Sets the address at which a listener accepts sockets. By default any, with a free port. */
    public NodeOptions socketAddress(InetSocketAddress address) {
        return with(copy -> copy.socketAddress = address);
    }

    /**
     * Sets the address at which a listener accepts connections over verbs. By default all RDMA
     * devices, with a free port.
     */
    public NodeOptions verbsAddress(InetSocketAddress address) {
        return with(copy -> copy.verbsAddress = address);
    }

    /**
     * Sets the number of the data interrupt at which a listener accepts connections over SISCI. By
     * default 0, which selects a free number.
     */
    public NodeOptions sisciNumber(int number) {
        return with(copy -> copy.sisciNumber = check("sisciNumber", number, 0, Integer.MAX_VALUE));
    }

    /**
     * Selects whether the data of large reads over verbs is moved by unreliable datagrams, false by
     * default. Both nodes must select it. Datagrams that are lost are sent again. If many are lost,
     * or a node or its device cannot use datagrams, the data is moved by RDMA WRITE; the
     * description of the connection has the reason.
     */
    public NodeOptions datagramReads(boolean isSelected) {
        return with(copy -> copy.datagramReads = isSelected);
    }

    private static int check(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    "Invalid %s: %d. The value must be from %d to %d."
                            .formatted(name, value, min, max));
        }
        return value;
    }
}
