package org.jrdma.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.internal.OwnAddress;
import org.jrdma.sockets.sisci.SisciConnecting;
import org.jrdma.sockets.sisci.SisciDoor;
import org.jrdma.sockets.sisci.SisciFabric;
import org.jrdma.sockets.sisci.SisciHosts;
import org.jspecify.annotations.Nullable;

/**
 * Streams over two segments of SISCI. A channel has a socket of TCP besides, which keeps its port,
 * its options, and what it is for a peer that cannot be reached this way.
 */
final class SisciTransport implements ShortCutTransport {

    static final String HOSTS_PROPERTY = "jrdma.sockets.sisci.hosts";
    static final String SPIN_PROPERTY = "jrdma.sockets.sisci.spin";

    static final SisciTransport CONFIGURED =
            new SisciTransport(
                    Sisci::configured,
                    () ->
                            SisciHosts.read(
                                    Path.of(
                                            System.getProperty(
                                                    HOSTS_PROPERTY, "/etc/dis/dishosts.conf"))));

    /** As SuperSockets have it. */
    private static final long SPIN_MICROS = 30;

    private static final Duration MEMORY = Duration.ofSeconds(10);
    private static final int RING_BYTES = 128 * 1024;
    private static final int LEAST_RING_BYTES = 4 * 1024;
    private static final int MOST_RING_BYTES = 16 * 1024 * 1024;

    private final Find<Sisci> library;
    private final Find<SisciHosts> hostsFile;

    // Guarded by this
    private @Nullable SisciFabric fabric;
    private @Nullable SisciHosts hosts;
    private String refusal = "";
    private Deadline refusedUntil = Deadline.after(Duration.ZERO);

    /** Finds something, or says why not. */
    @FunctionalInterface
    interface Find<T> {
        T find() throws FabricException;
    }

    SisciTransport(Find<Sisci> library, Find<SisciHosts> hostsFile) {
        this.library = library;
        this.hostsFile = hostsFile;
    }

    @Override
    public String name() {
        return "sisci";
    }

    @Override
    public Optional<String> whyNot() {
        try {
            fabric();
            return Optional.empty();
        } catch (FabricException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** Opened once, and kept; a reason why it cannot be is kept for some seconds. */
    private synchronized SisciFabric fabric() throws FabricException {
        if (fabric != null) {
            return fabric;
        }
        if (!refusedUntil.hasPassed()) {
            throw new FabricException(refusal);
        }
        try {
            hosts = hostsFile.find();
            fabric = SisciFabric.open(library.find());
            return fabric;
        } catch (FabricException | IllegalArgumentException e) {
            refusal = String.valueOf(e.getMessage());
            refusedUntil = Deadline.after(MEMORY);
            throw new FabricException(refusal, 0, e);
        }
    }

    private synchronized int nodeOf(InetSocketAddress address) throws FabricException {
        var own = fabric().nodeId();
        return hosts == null ? own : hosts.nodeOf(address.getAddress(), own);
    }

    @Override
    public SisciConnecting connect(
            InetSocketAddress address, int receiveBuffer, OwnAddress own, Consumer<String> refused)
            throws FabricException {
        var target =
                new SisciConnecting.Target() {
                    @Override
                    public InetSocketAddress address() {
                        return address;
                    }

                    @Override
                    public int node() throws FabricException {
                        return nodeOf(address);
                    }

                    @Override
                    public InetSocketAddress local() throws IOException {
                        return own.bind();
                    }
                };
        return fabric().connecting(target, ringBytes(receiveBuffer), refused);
    }

    @Override
    public SisciDoor listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException {
        return fabric().listen(address, backlog, ringBytes(receiveBuffer));
    }

    private static int ringBytes(int receiveBuffer) {
        return receiveBuffer == 0
                ? RING_BYTES
                : Math.clamp(receiveBuffer, LEAST_RING_BYTES, MOST_RING_BYTES);
    }

    @Override
    public long spinNanos() {
        return Duration.ofNanos(1_000 * Math.max(0, Long.getLong(SPIN_PROPERTY, SPIN_MICROS)))
                .toNanos();
    }

    @Override
    public String toString() {
        return name();
    }
}
