package org.jrdma.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jspecify.annotations.Nullable;

/**
 * What listens for streams over sockets of the kernel's, and beside them over a short cut that
 * leads to the same port.
 */
final class ListenerChannel extends ServerSocketChannel implements Selectable {

    private static final int DEFAULT_BACKLOG = 50;

    /** How many ports the system chooses before a transport goes without its own. */
    private static final int MOST_CHOICES = 16;

    private final Endpoint endpoint;
    private final Side input;
    private final @Nullable AddressChoice choice;
    private final ChannelOptions options;
    private final AtomicReference<@Nullable ServerSocketAdaptor> socket = new AtomicReference<>();
    private volatile StreamKind kind;
    private volatile @Nullable SocketAddress local;
    private volatile Doors doors = Doors.NONE;

    private volatile int receiveBuffer;

    /**
     * An unbound one.
     *
     * @param choice what becomes of the socket when its address is known; null if it stays
     */
    ListenerChannel(
            SelectorProvider provider,
            int descriptor,
            StreamKind kind,
            @Nullable AddressChoice choice)
            throws IOException {
        super(provider);
        this.kind = kind;
        this.choice = choice;
        endpoint = new Endpoint(this, descriptor, this::begin, this::end);
        input = endpoint.input();
        if (kind.addresses() instanceof InternetFamily) {
            options = ChannelOption.ofListener();
            // As the JDK does: or a server could not be started again for a minute.
            setOption(StandardSocketOptions.SO_REUSEADDR, true);
        } else {
            options = ChannelOption.ofUnixListener();
        }
    }

    @Override
    public Endpoint endpoint() {
        return endpoint;
    }

    @Override
    public ServerSocketChannel bind(@Nullable SocketAddress address, int backlog)
            throws IOException {
        endpoint.call(() -> {
            if (local != null) {
                throw new AlreadyBoundException();
            }
            var wanted = address == null ? anyAddress() : address;
            if (choice != null) {
                kind = choice.forListener(kind, endpoint, wanted);
            }
            local = listen(wanted, backlog < 1 ? DEFAULT_BACKLOG : backlog);
            return null;
        });
        return this;
    }

    /** Where the system chooses the port, until it is free for every way past the kernel too. */
    private SocketAddress listen(SocketAddress wanted, int backlog) throws IOException {
        for (var choices = 1; ; choices++) {
            var bound = kind.bind(endpoint.descriptor(), wanted);
            SocketFailure.check(SocketCalls.listen(endpoint.descriptor(), backlog));
            if (kind.shortCuts().isEmpty()) {
                return bound;
            }
            var opened =
                    Doors.open(kind.shortCuts(), (InetSocketAddress) bound, backlog, receiveBuffer);
            var internet = (InetSocketAddress) wanted;
            if (internet.getPort() != 0 || !opened.lackTheirPort() || choices == MOST_CHOICES) {
                doors = opened;
                opened.add(input::nudge);
                endpoint.listenAlsoTo(opened);
                return bound;
            }
            opened.close();
            kind = Objects.requireNonNull(choice).forListenerAgain(kind, endpoint, internet);
        }
    }

    private SocketAddress anyAddress() {
        return kind.addresses() instanceof InternetFamily internet
                ? internet.wildcard()
                : UnixDomainSocketAddress.of(
                        Path.of(
                                System.getProperty("java.io.tmpdir"),
                                "socket_" + UUID.randomUUID()));
    }

    @Override
    public @Nullable StreamChannel accept() throws IOException {
        return accept(Deadline.NEVER);
    }

    /** As {@link #accept()}, of a blocking channel until {@code deadline}. */
    @Nullable StreamChannel accept(Deadline deadline) throws IOException {
        input.lock();
        try {
            endpoint.ensureOpen();
            if (local == null) {
                throw new NotYetBoundException();
            }
            var accepting = new Accepting();
            var result = input.attempt(accepting, deadline, "Accept timed out");
            if (result == SocketCalls.AGAIN) {
                return null;
            }
            SocketFailure.check(result);
            return accepting.channel();
        } finally {
            input.unlock();
        }
    }

    /** Takes the next connection that is still there. */
    private final class Accepting implements Side.Attempt {

        private int descriptor;
        private @Nullable SocketAddress peer;
        private Doors.@Nullable Guest guest;

        @Override
        public int make() {
            guest = doors.poll();
            if (guest != null) {
                return 1;
            }
            try (var scratch = Scratch.take()) {
                var name = scratch.name();
                do {
                    descriptor =
                            SocketCalls.accept(endpoint.descriptor(), name.memory(), name.room());
                } while (descriptor == -Errno.ECONNABORTED);
                if (descriptor < 0) {
                    return descriptor;
                }
                peer = kind.addresses().read(name);
                return 1;
            }
        }

        StreamChannel channel() throws IOException {
            return guest == null ? bySocket() : byShortCut(guest);
        }

        private StreamChannel byShortCut(Doors.Guest guest) throws IOException {
            var arrived = guest.arrival();
            int keeper; // of options
            try {
                keeper = FamilyTransport.TCP.open((InternetFamily) kind.addresses());
            } catch (FabricException e) {
                arrived.stream().close(true);
                throw e;
            }
            var past = doors.past(kind, guest.door());
            var path = Objects.requireNonNull(past.shortCut());
            var channel =
                    new StreamChannel(
                            provider(),
                            keeper,
                            past.byShortCut(path),
                            arrived.local(),
                            arrived.remote());
            channel.use(arrived.stream(), path.transport());
            channel.established();
            return channel;
        }

        private StreamChannel bySocket() throws IOException {
            SocketAddress here;
            try {
                here = kind.localAddress(descriptor);
            } catch (IOException e) {
                SocketCalls.close(descriptor);
                throw e;
            }
            var channel =
                    new StreamChannel(
                            provider(),
                            descriptor,
                            doors.past(kind, kind.shortCuts().size()),
                            here,
                            Objects.requireNonNull(peer));
            channel.established();
            return channel;
        }
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        endpoint.ensureOpen();
        return local;
    }

    /** The local address, of a closed channel too. */
    @Nullable InetSocketAddress lastLocalAddress() {
        return (InetSocketAddress) local;
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        endpoint.close();
        doors.close();
    }

    /** Waits for an accept in progress, as it began in the other mode. */
    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        input.lock();
        try {
            endpoint.ensureOpen();
        } finally {
            input.unlock();
        }
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.names();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.set(endpoint, name, value);
        if (name == StandardSocketOptions.SO_RCVBUF) {
            receiveBuffer = (Integer) value;
        }
        if (choice != null && local == null) {
            endpoint.call(() -> {
                choice.remember(name, value);
                return null;
            });
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return options.get(endpoint, name);
    }

    @Override
    public ServerSocket socket() {
        return socket(ServerSocketAdaptor::of);
    }

    /** What a factory makes of it, before anybody asks for its socket. */
    ServerSocket plainSocket() {
        return socket(PlainServerSocket::of);
    }

    private ServerSocket socket(Function<ListenerChannel, ServerSocketAdaptor> maker) {
        if (!(kind.addresses() instanceof InternetFamily)) {
            throw new UnsupportedOperationException("Not supported");
        }
        var adaptor = socket.get();
        if (adaptor == null) {
            socket.compareAndSet(null, maker.apply(this));
            adaptor = Objects.requireNonNull(socket.get());
        }
        return adaptor;
    }

    /** What it is, where it listens, and which other ways lead there, or why not. */
    @Override
    public String toString() {
        var where = !isOpen() ? "closed" : local == null ? "unbound" : "at " + local + otherWays();
        return "FabricServerSocketChannel[%s %s]".formatted(kind.transport().name(), where);
    }

    private String otherWays() {
        var ways = new StringBuilder();
        for (var i = 0; i < kind.shortCuts().size(); i++) {
            var name = kind.shortCuts().get(i).transport().name();
            var whyNot = doors.whyNot(i);
            ways.append(
                    whyNot.isEmpty() ? "; by " + name : "; not by %s: %s".formatted(name, whyNot));
        }
        return ways.toString();
    }
}
