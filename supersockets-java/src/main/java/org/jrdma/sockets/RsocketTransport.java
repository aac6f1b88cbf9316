package org.jrdma.sockets;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.OwnAddress;
import org.jrdma.sockets.internal.ShortCutConnecting;
import org.jrdma.sockets.internal.ShortCutDoor;
import org.jrdma.sockets.rsocket.RsocketFabric;
import org.jspecify.annotations.Nullable;

/** Streams over the rsockets of librdmacm, of the kernel's RDMA devices. */
final class RsocketTransport implements ShortCutTransport {

    static final String SPIN_PROPERTY = "jrdma.sockets.rsocket.spin";
    static final RsocketTransport CONFIGURED =
            new RsocketTransport(() -> find(System.getProperty("jrdma.fabric", "system")));

    private static final long SPIN_MICROS = 30;
    private static final Duration MEMORY = Duration.ofSeconds(10);
    private static final int LEAST_BUFFER = 4 * 1024;
    private static final int MOST_BUFFER = 16 * 1024 * 1024;

    private final Find find;

    // Guarded by this
    private @Nullable RsocketFabric fabric;
    private String refusal = "";
    private Deadline refusedUntil = Deadline.after(Duration.ZERO);

    /** Finds librdmacm and the devices, or says why not. */
    @FunctionalInterface
    interface Find {
        RsocketFabric find() throws FabricException;
    }

    RsocketTransport(Find find) {
        this.find = find;
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
        try {
            fabric();
            return Optional.empty();
        } catch (FabricException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** Opened once, and kept; a reason why it cannot be is kept for some seconds. */
    private synchronized RsocketFabric fabric() throws FabricException {
        if (fabric != null) {
            return fabric;
        }
        if (!refusedUntil.hasPassed()) {
            throw new FabricException(refusal);
        }
        try {
            fabric = find.find();
            return fabric;
        } catch (FabricException e) {
            refusal = String.valueOf(e.getMessage());
            refusedUntil = Deadline.after(MEMORY);
            throw e;
        }
    }

    @Override
    public ShortCutConnecting connect(
            InetSocketAddress address, int receiveBuffer, OwnAddress own, Consumer<String> refused)
            throws FabricException {
        FastPathCheck.before(this);
        return fabric().connecting(address, buffer(receiveBuffer), own, refused);
    }

    @Override
    public ShortCutDoor listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException {
        FastPathCheck.before(this);
        return fabric().listen(address, backlog, buffer(receiveBuffer));
    }

    private static int buffer(int receiveBuffer) {
        return receiveBuffer == 0 ? 0 : Math.clamp(receiveBuffer, LEAST_BUFFER, MOST_BUFFER);
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
