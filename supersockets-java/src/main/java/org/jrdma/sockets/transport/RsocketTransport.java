package org.jrdma.sockets.transport;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.bypass.LazyBinding;
import org.jrdma.sockets.rsocket.RsocketConnector;
import org.jrdma.sockets.rsocket.RsocketRuntime;

/** A transport over the rsockets of librdmacm, which use the RDMA devices of the kernel. */
public final class RsocketTransport implements BypassTransport {

    public static final RsocketTransport CONFIGURED =
            new RsocketTransport(() -> find(System.getProperty("jrdma.fabric", "system")));

    private static final int MIN_BUFFER = 4 * 1024;
    private static final int MAX_BUFFER = 16 * 1024 * 1024;

    private final CachedResource<RsocketRuntime> runtime;

    public RsocketTransport(CachedResource.Find<RsocketRuntime> find) {
        this.runtime = new CachedResource<>(find);
    }

    public static RsocketRuntime find(String verbsFabric) throws FabricException {
        if (verbsFabric.equals("software")) {
            throw new FabricException(
                    "librdmacm supports only the RDMA devices of the kernel, not those of the"
                            + " software fabric that jrdma.fabric selects");
        }
        return RsocketRuntime.open();
    }

    @Override
    public String name() {
        return "rsocket";
    }

    @Override
    public Optional<String> whyNot() {
        return runtime.whyNot();
    }

    @Override
    public BypassConnector connect(
            InetSocketAddress address,
            int receiveBuffer,
            LazyBinding binding,
            Consumer<String> onFailure)
            throws FabricException {
        MachineWarnings.before(this);
        return new RsocketConnector(
                runtime.get(), address, buffer(receiveBuffer), binding, onFailure);
    }

    @Override
    public BypassListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException {
        MachineWarnings.before(this);
        return runtime.get().listen(address, backlog, buffer(receiveBuffer));
    }

    private static int buffer(int receiveBuffer) {
        return receiveBuffer == 0 ? 0 : Math.clamp(receiveBuffer, MIN_BUFFER, MAX_BUFFER);
    }

    @Override
    public String toString() {
        return name();
    }
}
