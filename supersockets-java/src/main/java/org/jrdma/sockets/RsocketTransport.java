package org.jrdma.sockets;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.OwnAddress;
import org.jrdma.sockets.internal.ShortCutConnecting;
import org.jrdma.sockets.internal.ShortCutDoor;
import org.jrdma.sockets.rsocket.RsocketFabric;

/** Streams over the rsockets of librdmacm, of the kernel's RDMA devices. */
final class RsocketTransport implements ShortCutTransport {

    static final RsocketTransport CONFIGURED =
            new RsocketTransport(() -> find(System.getProperty("jrdma.fabric", "system")));

    private static final int LEAST_BUFFER = 4 * 1024;
    private static final int MOST_BUFFER = 16 * 1024 * 1024;

    private final FoundOnce<RsocketFabric> fabric;

    /**
     * @param find finds librdmacm and the devices
     */
    RsocketTransport(FoundOnce.Find<RsocketFabric> find) {
        this.fabric = new FoundOnce<>(find);
    }

    static RsocketFabric find(String fabricOfVerbs) throws FabricException {
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
    public ShortCutConnecting connect(
            InetSocketAddress address, int receiveBuffer, OwnAddress own, Consumer<String> refused)
            throws FabricException {
        FastPathCheck.before(this);
        return fabric.get().connecting(address, buffer(receiveBuffer), own, refused);
    }

    @Override
    public ShortCutDoor listen(InetSocketAddress address, int backlog, int receiveBuffer)
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
