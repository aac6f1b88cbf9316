package org.jrdma.sockets.transport;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.bypass.LazyBinding;
import org.jrdma.sockets.sisci.SisciConnector;
import org.jrdma.sockets.sisci.SisciHosts;
import org.jrdma.sockets.sisci.SisciListener;
import org.jrdma.sockets.sisci.SisciStreamNode;

/** A transport over SISCI segments, between the nodes of a table of hosts. */
public final class SisciTransport implements BypassTransport {

    static final String HOSTS_PROPERTY = "jrdma.sockets.sisci.hosts";

    public static final SisciTransport CONFIGURED =
            new SisciTransport(Sisci::configured, SisciTransport::configuredHosts);

    private static final Path STANDARD_HOSTS = Path.of("/etc/dis/dishosts.conf");

    private static final int MIN_RING_BYTES = 4 * 1024;
    private static final int MAX_RING_BYTES = 16 * 1024 * 1024;

    private final CachedResource<Opened> opened;

    private record Opened(SisciStreamNode streamNode, SisciHosts hosts) {}

    public SisciTransport(
            CachedResource.Find<Sisci> library, CachedResource.Find<SisciHosts> hostsFile) {
        this.opened = new CachedResource<>(() -> open(library, hostsFile));
    }

    /**
     * Reads the table of hosts. A file that the system property names must exist; the default file
     * may be missing.
     */
    private static SisciHosts configuredHosts() throws FabricException {
        var named = System.getProperty(HOSTS_PROPERTY);
        return named == null
                ? SisciHosts.readIfThere(STANDARD_HOSTS)
                : SisciHosts.read(Path.of(named));
    }

    private static Opened open(
            CachedResource.Find<Sisci> library, CachedResource.Find<SisciHosts> hostsFile)
            throws FabricException {
        try {
            var hosts = hostsFile.find();
            return new Opened(SisciStreamNode.open(library.find()), hosts);
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

    @Override
    public SisciConnector connect(
            InetSocketAddress address,
            int receiveBuffer,
            LazyBinding binding,
            Consumer<String> onFailure)
            throws FabricException {
        var found = opened.get();
        return new SisciConnector(
                found.streamNode,
                found.hosts,
                address,
                binding,
                ringBytes(receiveBuffer),
                onFailure);
    }

    @Override
    public SisciListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException {
        return opened.get().streamNode.listen(address, backlog, ringBytes(receiveBuffer));
    }

    /** Returns the requested capacity of a ring; 0 if the program has set no buffer size. */
    private static int ringBytes(int receiveBuffer) {
        return receiveBuffer == 0 ? 0 : Math.clamp(receiveBuffer, MIN_RING_BYTES, MAX_RING_BYTES);
    }

    @Override
    public String toString() {
        return name();
    }
}
