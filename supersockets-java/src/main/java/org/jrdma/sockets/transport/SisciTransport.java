package org.jrdma.sockets.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.bypass.LocalAddress;
import org.jrdma.sockets.sisci.SisciConnector;
import org.jrdma.sockets.sisci.SisciFabric;
import org.jrdma.sockets.sisci.SisciHosts;
import org.jrdma.sockets.sisci.SisciListener;

/**
 * Streams over two segments of SISCI. A channel has a socket of TCP besides, which keeps its port,
 * its options, and what it is for a peer that cannot be reached this way.
 */
public final class SisciTransport implements BypassTransport {

    static final String HOSTS_PROPERTY = "jrdma.sockets.sisci.hosts";

    public static final SisciTransport CONFIGURED =
            new SisciTransport(Sisci::configured, SisciTransport::configuredHosts);

    private static final Path STANDARD_HOSTS = Path.of("/etc/dis/dishosts.conf");

    private static final int RING_BYTES = 128 * 1024;
    private static final int LEAST_RING_BYTES = 4 * 1024;
    private static final int MOST_RING_BYTES = 16 * 1024 * 1024;

    private final CachedLookup<Opened> opened;

    /** A node, and what it knows of others. */
    private record Opened(SisciFabric fabric, SisciHosts hosts) {}

    public SisciTransport(
            CachedLookup.Find<Sisci> library, CachedLookup.Find<SisciHosts> hostsFile) {
        this.opened = new CachedLookup<>(() -> open(library, hostsFile));
    }

    /** The table that was asked for must be there; the one of a driver need not. */
    private static SisciHosts configuredHosts() throws FabricException {
        var named = System.getProperty(HOSTS_PROPERTY);
        return named == null
                ? SisciHosts.readIfThere(STANDARD_HOSTS)
                : SisciHosts.read(Path.of(named));
    }

    private static Opened open(
            CachedLookup.Find<Sisci> library, CachedLookup.Find<SisciHosts> hostsFile)
            throws FabricException {
        try {
            var hosts = hostsFile.find();
            return new Opened(SisciFabric.open(library.find()), hosts);
        } catch (FabricException | IllegalArgumentException e) {
            throw new FabricException(String.valueOf(e.getMessage()), 0, e);
        }
    }

    @Override
    public String name() {
        return "sisci";
    }

    @Override
    public Optional<String> whyNot() {
        return opened.whyNot();
    }

    private int nodeOf(InetSocketAddress address) throws FabricException {
        var found = opened.get();
        return found.hosts.nodeOf(address.getAddress(), found.fabric.nodeId());
    }

    @Override
    public SisciConnector connect(
            InetSocketAddress address,
            int receiveBuffer,
            LocalAddress own,
            Consumer<String> refused)
            throws FabricException {
        var target =
                new SisciConnector.Target() {
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
        return opened.get().fabric.connecting(target, ringBytes(receiveBuffer), refused);
    }

    @Override
    public SisciListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException {
        return opened.get().fabric.listen(address, backlog, ringBytes(receiveBuffer));
    }

    private static int ringBytes(int receiveBuffer) {
        return receiveBuffer == 0
                ? RING_BYTES
                : Math.clamp(receiveBuffer, LEAST_RING_BYTES, MOST_RING_BYTES);
    }

    @Override
    public String toString() {
        return name();
    }
}
