package org.jrdma.sockets.transport;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.bypass.LocalAddress;
import org.jrdma.sockets.rsocket.RsocketFabric;

/** Streams over the rsockets of librdmacm, of the kernel's RDMA devices. */
public final class RsocketTransport implements BypassTransport {

    public static final RsocketTransport CONFIGURED =
            new RsocketTransport(() -> find(System.getProperty("jrdma.fabric", "system")));

    private static final int LEAST_BUFFER = 4 * 1024;
    private static final int MOST_BUFFER = 16 * 1024 * 1024;

    private final CachedLookup<RsocketFabric> fabric;

    /**
     * @param find finds librdmacm and the devices
     */
    public RsocketTransport(CachedLookup.Find<RsocketFabric> find) {
        this.fabric = new CachedLookup<>(find);
    }

    public static RsocketFabric find(String fabricOfVerbs) throws FabricException {
        if (fabricOfVerbs.equals("software")) {
            throw new FabricException(
                    "librdmacm reaches the kernel's RDMA devices alone, not those of the software fabric that jrdma.fabric names");
        }
        return RsocketFabric.open();
    }

    @Override
    public String name() {
        return "rsocket";
    }

    @Override
    public Optional<String> whyNot() {
        return fabric.whyNot();
    }

    @Override
    public BypassConnector connect(
            InetSocketAddress address,
            int receiveBuffer,
            LocalAddress own,
            Consumer<String> refused)
            throws FabricException {
        FastPathCheck.before(this);
        return fabric.get().connecting(address, buffer(receiveBuffer), own, refused);
    }

    @Override
    public BypassListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException {
        FastPathCheck.before(this);
        return fabric.get().listen(address, backlog, buffer(receiveBuffer));
    }

    private static int buffer(int receiveBuffer) {
        return receiveBuffer == 0 ? 0 : Math.clamp(receiveBuffer, LEAST_BUFFER, MOST_BUFFER);
    }

    @Override
    public String toString() {
        return name();
    }
}
