package org.jrdma.sockets;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.OwnAddress;
import org.jrdma.sockets.internal.ShortCutConnecting;
import org.jrdma.sockets.internal.ShortCutStream;
import org.jrdma.sockets.internal.SmcSockets;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stream over sockets of the kernel's, or over a short cut past them. */
final class StreamChannel extends FabricSocketChannel implements Selectable {

    private static final Logger LOG = LoggerFactory.getLogger(StreamChannel.class);
    private static final long FULL_QUEUE_NANOS = 1_000_000;

    private enum State {
        UNCONNECTED,
        PENDING,
        CONNECTED
    }

    private final Endpoint endpoint;
    private final Side input;
    private final Side output;
    private final AtomicReference<@Nullable SocketAdaptor> socket = new AtomicReference<>();
    private final @Nullable AddressChoice choice;

    /** While it is pending. Changed under the locks of both sides. */
    private volatile @Nullable Connecting connecting;

    private volatile StreamKind kind;
    private volatile State state;

    /** What is used in place of the socket, once it is connected. */
    private volatile @Nullable ShortCutStream shortCut;

    /** What the program has said; 0 if nothing. */
    private volatile int receiveBuffer;

    private volatile @Nullable SocketAddress local;
    private volatile @Nullable SocketAddress remote;
    private volatile boolean inputShut;
    private volatile boolean outputShut;

    private final AtomicLong received = new AtomicLong();
    private final AtomicLong sent = new AtomicLong();
    private volatile Instant since = Instant.EPOCH;
    private volatile @Nullable WeakReference<StreamChannel> listed;
    private final ConnectionRecord events = new ConnectionRecord();
    private final boolean accepted;

    /** Guarded by the input's lock. The kernel tells of a reset once; a program is told again. */
    private boolean reset;

    /**
     * An unconnected one.
     *
     * @param choice what becomes of the socket when its address is known; null if it stays
     */
    StreamChannel(
            SelectorProvider provider,
            int descriptor,
            StreamKind kind,
            @Nullable AddressChoice choice) {
        this(provider, descriptor, kind, choice, false);
    }

    private StreamChannel(
            SelectorProvider provider,
            int descriptor,
            StreamKind kind,
            @Nullable AddressChoice choice,
            boolean accepted) {
        super(provider);
        this.accepted = accepted;
        this.kind = kind;
        this.choice = choice;
        this.state = State.UNCONNECTED;
        endpoint = new Endpoint(this, descriptor, this::begin, this::end);
        input = endpoint.input();
        output = endpoint.output();
    }

    /** One that was accepted. */
    StreamChannel(
            SelectorProvider provider,
            int descriptor,
            StreamKind kind,
            SocketAddress local,
            SocketAddress remote) {
        this(provider, descriptor, kind, null, true);
        this.local = local;
        this.remote = remote;
    }

    /** From now on, and before it is connected, its bytes go by {@code stream}. */
    void use(ShortCutStream stream, ShortCutTransport way) throws IOException {
        shortCut = stream; // who closes this channel closes it from now on
        endpoint.listenTo(stream, way.spinNanos());
    }

    /** From now on it is connected; called once. */
    void established() {
        since = Instant.now();
        state = State.CONNECTED;
        listed = Connections.add(this);
        events.connected(this);
    }

    /** How it is connected; empty if it is not. */
    Optional<Connection> connection(SmcSockets smc) {
        if (!isConnected()) {
            return Optional.empty();
        }
        try {
            return Optional.of(endpoint.call(() -> describe(smc)));
        } catch (IOException _) {
            return Optional.empty(); // closed meanwhile
        }
    }

    private String transportName() throws IOException {
        return shortCut == null ? kind.transportOf(endpoint.descriptor()) : kind.transport().name();
    }

    private Connection describe(SmcSockets smc) throws IOException {
        var transport = transportName();
        var reasons = new ArrayList<>(kind.reasons());
        if (kind.transport() == Transport.smc()) {
            var why = smc.whyOverTcp(endpoint.descriptor());
            if (why.isPresent()) {
                transport = Transport.tcp().name(); // as newer kernels say of the descriptor too
                reasons.add("smc: over TCP by itself: " + why.get());
            }
        }
        return new Connection(
                Objects.requireNonNull(local),
                Objects.requireNonNull(remote),
                accepted,
                transport,
                String.join("; ", reasons),
                received.get(),
                sent.get(),
                since);
    }

    /** Why no transport that was preferred was taken, when it was connected. */
    List<String> refusals() {
        return kind.reasons();
    }

    /** Its own address, of a closed one too; empty before it is known. */
    Optional<SocketAddress> local() {
        return Optional.ofNullable(local);
    }

    /** Whom it leads to, of a closed one too; empty before it is known. */
    Optional<SocketAddress> peer() {
        return Optional.ofNullable(remote);
    }

    boolean isAccepted() {
        return accepted;
    }

    long bytesReceived() {
        return received.get();
    }

    long bytesSent() {
        return sent.get();
    }

    @Override
    public Transport transport() {
        return kind.transport();
    }

    @Override
    public Endpoint endpoint() {
        return endpoint;
    }

    /** Before there is a connection, its end is all that can be waited for. */
    @Override
    public int possible() {
        return switch (state) {
            case UNCONNECTED -> 0;
            case PENDING -> SelectionKey.OP_CONNECT;
            case CONNECTED -> SelectionKey.OP_READ | SelectionKey.OP_WRITE;
        };
    }

    // Addresses and connecting

    @Override
    public StreamChannel bind(@Nullable SocketAddress address) throws IOException {
        endpoint.lockBoth();
        try {
            endpoint.ensureOpen();
            if (state == State.PENDING) {
                throw new ConnectionPendingException();
            }
            if (local != null) {
                throw new AlreadyBoundException();
            }
            if (choice != null) {
                kind = choice.forOwn(kind, endpoint, address);
            }
            local = endpoint.call(() -> kind.bindClient(endpoint.descriptor(), address));
        } finally {
            endpoint.unlockBoth();
        }
        return this;
    }

    @Override
    public boolean connect(SocketAddress address) throws IOException {
        return connect(address, Deadline.NEVER);
    }

    /** As {@link #connect(SocketAddress)}, of a blocking channel until {@code deadline}. */
    boolean connect(SocketAddress address, Deadline deadline) throws IOException {
        try {
            endpoint.lockBoth();
            try {
                endpoint.ensureOpen();
                if (choice != null && state == State.UNCONNECTED) {
                    kind = choice.forPeer(kind, endpoint, address, local);
                }
                var target = kind.addresses().reach(kind.addresses().check(address));
                state =
                        switch (state) {
                            case CONNECTED -> throw new AlreadyConnectedException();
                            case PENDING -> throw new ConnectionPendingException();
                            case UNCONNECTED -> State.PENDING;
                        };
                remote = target;
                connecting = new Connecting(target, deadline);
                return connected(connecting, deadline);
            } finally {
                endpoint.unlockBoth();
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    @Override
    public boolean finishConnect() throws IOException {
        try {
            endpoint.lockBoth();
            try {
                if (isConnected()) {
                    return true;
                }
                endpoint.ensureOpen();
                if (state != State.PENDING) {
                    throw new NoConnectionPendingException();
                }
                return connected(Objects.requireNonNull(connecting), Deadline.NEVER);
            } finally {
                endpoint.unlockBoth();
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Whether the connection is there, which only a channel that does not block may say no to. */
    private boolean connected(Connecting connecting, Deadline deadline) throws IOException {
        var result = output.attempt(connecting, deadline, "Connect timed out");
        if (result == SocketCalls.AGAIN) {
            return false;
        }
        if (result < 0) {
            throw SocketFailure.ofConnect(-result);
        }
        if (shortCut == null) {
            local = endpoint.call(() -> kind.localAddress(endpoint.descriptor()));
        }
        this.connecting = null;
        established();
        return true;
    }

    /** A short cut that is being tried. */
    private record Way(Transports.ShortCut path, ShortCutConnecting coming) {}

    /** Asks for a connection, and then again and again whether it is there. */
    private final class Connecting implements Side.Attempt {

        private final SocketAddress target;
        private final Deadline deadline;
        private volatile @Nullable Way way;

        /** What the socket has answered; {@link SocketCalls#AGAIN} if it has not been asked. */
        private volatile int answer = SocketCalls.AGAIN;

        Connecting(SocketAddress target, Deadline deadline) {
            this.target = target;
            this.deadline = deadline;
        }

        @Override
        public int make() throws IOException {
            var now = way;
            if (now == null) {
                return kind.shortCut() == null || beginShortCut() ? bySocket() : SocketCalls.AGAIN;
            }
            if (!now.coming.isDone()) {
                return SocketCalls.AGAIN;
            }
            var stream = now.coming.take();
            if (stream.isEmpty()) {
                if (way != now) {
                    return make(); // another has been begun meanwhile
                }
                throw new ConnectException(now.coming.reason());
            }
            kind = kind.byShortCut(now.path);
            use(stream.get(), now.path.transport());
            stream.get().localAddress().ifPresent(address -> local = address);
            return 1;
        }

        /** Begins with the first that this machine can use; true if it can use none. */
        private boolean beginShortCut() throws IOException {
            var path = kind.shortCut();
            while (path != null) {
                try {
                    begin(path);
                    return false;
                } catch (FabricException e) {
                    if (path.isLast()) {
                        throw new ConnectException(e.getMessage());
                    }
                    kind = kind.pastShortCut(String.valueOf(e.getMessage()));
                    path = kind.shortCut();
                }
            }
            return true;
        }

        private void begin(Transports.ShortCut path) throws IOException {
            var coming =
                    path.transport()
                            .connect(
                                    (InetSocketAddress) target,
                                    receiveBuffer,
                                    own,
                                    reason -> refused(path, reason));
            way = new Way(path, coming);
            endpoint.listenTo(coming, 0);
            coming.begin(() -> deadline(path));
        }

        /** Of the program's time, half of what is left is for the ways that come after. */
        private Deadline deadline(Transports.ShortCut path) {
            return path.isLast() || deadline.equals(Deadline.NEVER)
                    ? deadline
                    : Deadline.after(Duration.ofNanos(deadline.remainingNanos() / 2));
        }

        /** This side's address. */
        private final OwnAddress own =
                new OwnAddress() {
                    @Override
                    public InetAddress source() throws IOException {
                        return kind.sourceTowards((InetSocketAddress) target);
                    }

                    @Override
                    public Optional<InetSocketAddress> bound() {
                        return Optional.ofNullable((InetSocketAddress) local);
                    }

                    @Override
                    public InetSocketAddress bind() throws IOException {
                        return endpoint.call(() -> {
                            var here =
                                    kind.addressTowards(
                                            endpoint.descriptor(), (InetSocketAddress) target);
                            local = here;
                            return here;
                        });
                    }
                };

        /**
         * Goes on by the next way, or by the socket; on another thread. At once, and not when the
         * program asks next: it does that when the connection is there, or cannot be.
         */
        private void refused(Transports.ShortCut path, String reason) {
            if (path.isLast()) {
                return;
            }
            try {
                endpoint.call(() -> {
                    kind = kind.pastShortCut(reason);
                    if (beginShortCut()) {
                        askSocket();
                        endpoint.listenToDescriptor(); // which is not idle any more
                        way = null;
                    }
                    return null;
                });
            } catch (IOException e) {
                LOG.debug("{} is closed, or has no other way: {}", this, e.getMessage());
            }
        }

        void abandon() {
            var last = way;
            if (last != null) {
                last.coming.abandon();
            }
        }

        private int bySocket() throws IOException {
            if (answer == 0) {
                return kind.connected(endpoint.descriptor());
            }
            if (answer == SocketCalls.AGAIN) {
                askSocket();
                if (answer == SocketCalls.AGAIN && isBlocking()) {
                    LockSupport.parkNanos(FULL_QUEUE_NANOS); // no event tells of room
                }
                return answer == 0 ? SocketCalls.AGAIN : answer;
            }
            return answer;
        }

        private void askSocket() throws IOException {
            var result = kind.connect(endpoint.descriptor(), target);
            answer =
                    switch (result) {
                        case -Errno.EINPROGRESS, -Errno.EINTR -> 0;
                        case 0 -> 1;
                        default -> result; // AGAIN: a listener's queue is full, within this machine
                    };
        }
    }

    @Override
    public boolean isConnected() {
        return wasConnected() && isOpen();
    }

    /** Whether it is connected, or was when it was closed. */
    boolean wasConnected() {
        return state == State.CONNECTED;
    }

    @Override
    public boolean isConnectionPending() {
        return state == State.PENDING && isOpen();
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        endpoint.ensureOpen();
        return local;
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        endpoint.ensureOpen();
        return remote;
    }

    /** The local address, of a closed channel too. */
    @Nullable InetSocketAddress lastLocalAddress() {
        return (InetSocketAddress) local;
    }

    /** The peer's address, of a closed channel too. */
    @Nullable InetSocketAddress lastRemoteAddress() {
        return (InetSocketAddress) remote;
    }

    private void ensureConnected() throws ClosedChannelException {
        endpoint.ensureOpen();
        if (state != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
    }

    // Reading

    @Override
    public int read(ByteBuffer target) throws IOException {
        refuseReadOnly(target);
        return (int)
                read(
                        target.remaining(),
                        () -> Transfers.receive(this::receive, endpoint.descriptor(), target),
                        Deadline.NEVER);
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        var end = offset + length;
        for (var i = offset; i < end; i++) {
            refuseReadOnly(targets[i]);
        }
        return read(
                Transfers.remaining(targets, offset, end),
                () -> Transfers.receive(this::receive, endpoint.descriptor(), targets, offset, end),
                Deadline.NEVER);
    }

    @Override
    public long read(MemorySegment target) throws IOException {
        checkIsNative(target);
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("It is read-only: " + target);
        }
        return read(
                target.byteSize(),
                () -> receive(endpoint.descriptor(), target, target.byteSize()),
                Deadline.NEVER);
    }

    /** Whichever transport it goes by: some would take more than others, or notice late. */
    private static void checkIsNative(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("It is on the heap, use a ByteBuffer: " + memory);
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("Already closed: " + memory);
        }
    }

    /** For the adaptor: reads until {@code deadline}. */
    int read(ByteBuffer target, Deadline deadline) throws IOException {
        refuseNonBlocking();
        return (int)
                read(
                        target.remaining(),
                        () -> Transfers.receive(this::receive, endpoint.descriptor(), target),
                        deadline);
    }

    /** For the adaptor: how much can be read without waiting. */
    int available() throws IOException {
        return endpoint.call(() -> {
            ensureConnected();
            if (inputShut) {
                return 0;
            }
            var stream = shortCut;
            return stream == null
                    ? SocketFailure.check(SocketCalls.available(endpoint.descriptor()))
                    : stream.available();
        });
    }

    private int receive(int descriptor, MemorySegment target, long bytes) {
        var stream = shortCut;
        return stream == null
                ? SocketCalls.receive(descriptor, target, bytes)
                : stream.receive(target, bytes);
    }

    private long read(long room, Side.Attempt attempt, Deadline deadline) throws IOException {
        input.lock();
        try {
            ensureConnected();
            if (reset) {
                throw new SocketException("Connection reset");
            }
            if (inputShut) {
                return -1;
            }
            if (room == 0) {
                return 0;
            }
            var count = input.attempt(attempt, deadline, "Read timed out");
            if (count > 0) {
                received.addAndGet(count);
                return count;
            }
            if (count == 0 || inputShut) {
                return -1;
            }
            return failedRead(-count);
        } finally {
            input.unlock();
        }
    }

    private int failedRead(int errno) throws IOException {
        return switch (errno) {
            case Errno.EAGAIN -> 0;
            case Errno.ECONNRESET, Errno.EPIPE -> {
                reset = true;
                throw new SocketException("Connection reset");
            }
            default -> throw SocketFailure.ofTransfer(errno);
        };
    }

    private static void refuseReadOnly(ByteBuffer target) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    private void refuseNonBlocking() {
        if (!isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    // Writing

    @Override
    public int write(ByteBuffer source) throws IOException {
        return (int)
                write(
                        source.remaining(),
                        () -> Transfers.send(this::send, endpoint.descriptor(), source));
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        var end = offset + length;
        return write(
                Transfers.remaining(sources, offset, end),
                () -> Transfers.send(this::send, endpoint.descriptor(), sources, offset, end));
    }

    private int send(int descriptor, MemorySegment source, long bytes) {
        var stream = shortCut;
        return stream == null
                ? StreamKind.send(descriptor, source, bytes)
                : stream.send(source, bytes);
    }

    @Override
    public long write(MemorySegment source) throws IOException {
        checkIsNative(source);
        var done = new long[1];
        return write(
                source.byteSize(),
                () -> {
                    var rest = source.asSlice(done[0]);
                    var count = send(endpoint.descriptor(), rest, rest.byteSize());
                    done[0] += Math.max(0, count);
                    return count;
                });
    }

    /** For the adaptor. */
    void writeAll(ByteBuffer source) throws IOException {
        refuseNonBlocking();
        while (source.hasRemaining()) {
            write(source);
        }
    }

    /** One byte that overtakes the others. */
    void writeOutOfBand(int value) throws IOException {
        output.lock();
        try {
            ensureConnected();
            if (shortCut != null) {
                throw new SocketException("Urgent data cannot go over " + kind.transport());
            }
            var result =
                    output.attempt(() -> StreamKind.sendOutOfBand(endpoint.descriptor(), value));
            if (result == SocketCalls.AGAIN) {
                throw new IOException("Socket buffer full");
            }
            if (result < 0) {
                throw SocketFailure.ofTransfer(-result);
            }
        } finally {
            output.unlock();
        }
    }

    private long write(long bytes, Side.Attempt attempt) throws IOException {
        output.lock();
        try {
            ensureConnected();
            if (outputShut) {
                throw new AsynchronousCloseException(); // as of the JDK's, whoever shut it
            }
            var result = output.attemptAll(bytes, attempt);
            if (result < 0) {
                return failedWrite((int) -result);
            }
            sent.addAndGet(result);
            return result;
        } finally {
            output.unlock();
        }
    }

    private int failedWrite(int errno) throws IOException {
        if (errno == Errno.EAGAIN) {
            return 0;
        }
        if (outputShut) {
            throw new AsynchronousCloseException();
        }
        throw SocketFailure.ofTransfer(errno);
    }

    // Ending

    @Override
    public StreamChannel shutdownInput() throws IOException {
        return endpoint.call(() -> {
            ensureConnected();
            if (!inputShut) {
                shutdown(SocketCalls.SHUT_RD);
                inputShut = true;
            }
            return this;
        });
    }

    @Override
    public StreamChannel shutdownOutput() throws IOException {
        return endpoint.call(() -> {
            ensureConnected();
            if (!outputShut) {
                outputShut = true; // first, so that a writer who fails knows why
                shutdown(SocketCalls.SHUT_WR);
            }
            return this;
        });
    }

    private void shutdown(int how) throws IOException {
        var stream = shortCut;
        if (stream == null) {
            StreamKind.shutdown(endpoint.descriptor(), how);
        } else if (how == SocketCalls.SHUT_RD) {
            stream.shutdownInput();
        } else {
            stream.shutdownOutput();
        }
    }

    boolean isInputShut() {
        return inputShut;
    }

    boolean isOutputShut() {
        return outputShut;
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        var resets = shortCut != null && closeIsReset();
        endpoint.close();
        var pending = connecting;
        if (pending != null) {
            pending.abandon();
        }
        var stream = shortCut;
        if (stream != null) {
            stream.close(resets);
        }
        var reference = listed;
        if (reference != null) {
            Connections.remove(reference);
            events.closed(this);
        }
    }

    private boolean closeIsReset() throws IOException {
        return Objects.equals(ChannelOption.LINGER.read(endpoint.descriptor()), 0);
    }

    // Options, mode, adaptor

    /** Waits for reads and writes in progress, as they began in the other mode. */
    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        endpoint.lockBoth();
        try {
            endpoint.ensureOpen();
        } finally {
            endpoint.unlockBoth();
        }
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return kind.options().names();
    }

    @Override
    public <T> StreamChannel setOption(SocketOption<T> name, T value) throws IOException {
        kind.options().set(endpoint, name, value);
        if (name == StandardSocketOptions.SO_RCVBUF) {
            receiveBuffer = (Integer) value;
        }
        if (choice != null && state == State.UNCONNECTED) {
            endpoint.call(() -> {
                choice.remember(name, value);
                return null;
            });
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return kind.options().get(endpoint, name);
    }

    @Override
    public Socket socket() {
        return socket(SocketAdaptor::of);
    }

    /** What a factory makes of it, before anybody asks for its socket. */
    Socket plainSocket() {
        return socket(PlainSocket::of);
    }

    private Socket socket(Function<StreamChannel, SocketAdaptor> maker) {
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

    /** What it is, and between which addresses. */
    @Override
    public String toString() {
        var name = "%s[%s".formatted(getClass().getSimpleName(), kind.transport().name());
        if (!isOpen()) {
            return name + " closed]";
        }
        return switch (state) {
            case UNCONNECTED -> name + " unconnected]";
            case PENDING -> "%s connecting to %s]".formatted(name, remote);
            case CONNECTED -> "%s %s to %s]".formatted(name, local, remote);
        };
    }
}
