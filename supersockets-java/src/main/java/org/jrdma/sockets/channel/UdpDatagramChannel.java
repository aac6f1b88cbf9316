package org.jrdma.sockets.channel;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.MembershipKey;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jspecify.annotations.Nullable;

/** A datagram channel over UDP, which can be registered with a {@link FabricSelector}. */
public final class UdpDatagramChannel extends DatagramChannel implements Selectable {

    private static final int MAX_DATAGRAM_BYTES = 65_535;

    private final InternetFamily family;
    private final DatagramCalls calls;
    private final ChannelDescriptor endpoint;
    private final DirectionGuard input;
    private final DirectionGuard output;
    private final SupportedChannelOptions options;
    private final MulticastMemberships memberships;
    private final SocketAdaptorFactories adaptors;
    private final AtomicReference<@Nullable DatagramSocket> socket = new AtomicReference<>();

    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress remote;

    /**
     * The value of {@code local} before the channel was connected, restored by {@link #disconnect}.
     */
    private @Nullable InetSocketAddress localBefore;

    public UdpDatagramChannel(
            SelectorProvider provider, InternetFamily family, SocketAdaptorFactories adaptors)
            throws IOException {
        super(provider);
        this.adaptors = adaptors;
        this.family = family;
        calls = DatagramCalls.open(family);
        endpoint = new ChannelDescriptor(this, calls.descriptor());
        input = endpoint.input();
        output = endpoint.output();
        options = ChannelOption.ofDatagrams(family);
        memberships = new MulticastMemberships(this, endpoint, family);
    }

    @Override
    public ChannelDescriptor endpoint() {
        return endpoint;
    }

    // ---- addresses

    @Override
    public UdpDatagramChannel bind(@Nullable SocketAddress address) throws IOException {
        endpoint.lockBoth();
        try {
            endpoint.ensureOpen();
            if (local != null) {
                throw new AlreadyBoundException();
            }
            bindTo(address == null ? family.wildcard() : family.check(address));
        } finally {
            endpoint.unlockBoth();
        }
        return this;
    }

    private void bindTo(InetSocketAddress address) throws IOException {
        local =
                endpoint.call(() -> {
                    calls.bind(address);
                    return calls.localAddress();
                });
    }

    /** Binds the channel, unless it is bound already. The caller holds the lock of a direction. */
    private void ensureBound() throws IOException {
        endpoint.ensureOpen();
        synchronized (calls) {
            if (local == null) {
                bindTo(family.wildcard());
            }
        }
    }

    @Override
    public UdpDatagramChannel connect(SocketAddress address) throws IOException {
        endpoint.lockBoth();
        try {
            endpoint.ensureOpen();
            var target = family.reach(family.check(address));
            if (remote != null) {
                throw new AlreadyConnectedException();
            }
            ensureBound();
            localBefore = local;
            local =
                    endpoint.call(() -> {
                        calls.connect(target);
                        return calls.localAddress();
                    });
            remote = target;
        } finally {
            endpoint.unlockBoth();
        }
        return this;
    }

    /**
     * Disconnects. If the kernel has released the port, binds the channel to its previous address
     * and port again.
     */
    @Override
    public UdpDatagramChannel disconnect() throws IOException {
        endpoint.lockBoth();
        try {
            if (!isOpen() || remote == null) {
                return this;
            }
            var before = Objects.requireNonNull(localBefore);
            local =
                    endpoint.call(() -> {
                        calls.disconnect();
                        if (calls.localAddress().getPort() == 0) {
                            calls.bind(
                                    new InetSocketAddress(before.getAddress(), before.getPort()));
                        }
                        return calls.localAddress();
                    });
            remote = null;
        } finally {
            endpoint.unlockBoth();
        }
        return this;
    }

    @Override
    public boolean isConnected() {
        return remote != null && isOpen();
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

    public @Nullable InetSocketAddress lastLocalAddress() {
        return local;
    }

    public @Nullable InetSocketAddress lastRemoteAddress() {
        return remote;
    }

    // ---- receiving

    @Override
    public @Nullable SocketAddress receive(ByteBuffer target) throws IOException {
        return receive(target, Deadline.NEVER);
    }

    /** Receives a datagram in blocking mode, for the adaptor. */
    public @Nullable InetSocketAddress receiveBlocking(ByteBuffer target, Deadline deadline)
            throws IOException {
        if (!isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        return receive(target, deadline);
    }

    private @Nullable InetSocketAddress receive(ByteBuffer target, Deadline deadline)
            throws IOException {
        BufferTransfers.requireWritable(target);
        input.lock();
        try {
            ensureBound();
            var sender = new DatagramCalls.Sender();
            var count = receive(target, sender, deadline);
            if (count == SocketCalls.AGAIN) {
                return null;
            }
            checked(count);
            return sender.address();
        } finally {
            input.unlock();
        }
    }

    private int receive(ByteBuffer target, DatagramCalls.Sender sender, Deadline deadline)
            throws IOException {
        var count = SocketCalls.AGAIN;
        var open = begin(input);
        try {
            if (open) {
                do {
                    count = calls.receive(target, sender);
                } while (input.retry(count, deadline, "Receive timed out"));
            }
        } finally {
            end(input, count > 0);
        }
        return count;
    }

    /**
     * Starts an operation. Returns false if the channel is closed. The caller holds the lock of the
     * direction.
     */
    private boolean begin(DirectionGuard direction) throws AsynchronousCloseException {
        var blocking = isBlocking();
        if (blocking) {
            begin(); // A pending interrupt closes the channel here.
        }
        return direction.enter(blocking);
    }

    private void end(DirectionGuard direction, boolean succeeded)
            throws AsynchronousCloseException {
        if (direction.leave()) {
            end(succeeded);
        }
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        var whole = ByteBuffer.allocate(MAX_DATAGRAM_BYTES);
        var count = read(whole);
        whole.flip();
        var taken = 0L;
        for (var i = offset; i < offset + length && count > 0 && whole.hasRemaining(); i++) {
            var part = Math.min(targets[i].remaining(), whole.remaining());
            targets[i].put(whole.slice().limit(part));
            whole.position(whole.position() + part);
            taken += part;
        }
        return taken;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        BufferTransfers.requireWritable(target);
        input.lock();
        try {
            ensureConnected();
            var count = receive(target, new DatagramCalls.Sender(), Deadline.NEVER);
            return count == SocketCalls.AGAIN ? 0 : checked(count);
        } finally {
            input.unlock();
        }
    }

    private void ensureConnected() throws IOException {
        endpoint.ensureOpen();
        if (remote == null) {
            throw new NotYetConnectedException();
        }
    }

    // ---- sending

    @Override
    public int send(ByteBuffer source, SocketAddress address) throws IOException {
        Objects.requireNonNull(source);
        output.lock();
        try {
            endpoint.ensureOpen();
            var target = family.check(address);
            var peer = remote;
            if (peer != null && !peer.equals(target)) {
                throw new AlreadyConnectedException();
            }
            ensureBound();
            var count = transmit(source, peer == null ? target : null);
            return count == SocketCalls.AGAIN ? 0 : checkSent(count);
        } finally {
            output.unlock();
        }
    }

    /** Sends a datagram in blocking mode, for the adaptor. */
    public void sendBlocking(ByteBuffer source, InetSocketAddress address) throws IOException {
        if (!isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        var _ = send(source, address);
    }

    /** Sends one datagram to {@code target}; if that is null, to the connected peer. */
    private int transmit(ByteBuffer source, @Nullable InetSocketAddress target) throws IOException {
        var count = SocketCalls.AGAIN;
        var open = begin(output);
        try {
            if (open) {
                do {
                    count = target == null ? calls.write(source) : calls.send(source, target);
                } while (output.retry(count));
            }
        } finally {
            end(output, count > 0);
        }
        return count;
    }

    private static int checkSent(int count) throws IOException {
        if (count == -Errno.ECONNREFUSED) {
            throw new PortUnreachableException();
        }
        return SocketFailure.check(count);
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source);
        output.lock();
        try {
            ensureConnected();
            var count = transmit(source, null);
            return count == SocketCalls.AGAIN ? 0 : checked(count);
        } finally {
            output.unlock();
        }
    }

    /** Writes the bytes of all buffers as one datagram. */
    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        var end = offset + length;
        var bytes = BufferTransfers.remaining(sources, offset, end);
        var whole = ByteBuffer.allocate((int) Math.min(bytes, MAX_DATAGRAM_BYTES + 1));
        for (var i = offset; i < end && whole.hasRemaining(); i++) {
            var part = Math.min(sources[i].remaining(), whole.remaining());
            whole.put(sources[i].slice().limit(part));
        }
        var count = write(whole.flip());
        if (count > 0) {
            for (var i = offset; i < end; i++) {
                sources[i].position(sources[i].limit());
            }
        }
        return count;
    }

    private static int checked(int count) throws IOException {
        if (count == -Errno.ECONNREFUSED) {
            throw new PortUnreachableException();
        }
        if (count < 0) {
            throw SocketFailure.ofTransfer(-count);
        }
        return count;
    }

    // ---- multicast groups

    @Override
    public MembershipKey join(InetAddress group, NetworkInterface networkInterface)
            throws IOException {
        return memberships.join(group, networkInterface, null);
    }

    @Override
    public MembershipKey join(
            InetAddress group, NetworkInterface networkInterface, InetAddress source)
            throws IOException {
        return memberships.join(group, networkInterface, Objects.requireNonNull(source));
    }

    // ---- close, blocking mode, options, adaptor

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        endpoint.close();
        memberships.forget();
    }

    /** Waits until the operations that were started in the previous blocking mode have ended. */
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
        return options.names();
    }

    @Override
    public <T> UdpDatagramChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.set(endpoint, name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return options.get(endpoint, name);
    }

    @Override
    public DatagramSocket socket() {
        if (socket.get() == null) {
            socket.compareAndSet(null, adaptors.datagram().apply(this));
        }
        return Objects.requireNonNull(socket.get());
    }

    /** Returns the type of the channel and its addresses. */
    @Override
    public String toString() {
        if (!isOpen()) {
            return "UdpDatagramChannel[closed]";
        }
        var to = remote == null ? "" : " to " + AddressText.of(remote);
        return "UdpDatagramChannel[%s%s]"
                .formatted(local == null ? "unbound" : AddressText.of(local), to);
    }
}
