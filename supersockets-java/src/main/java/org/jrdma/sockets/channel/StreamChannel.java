package org.jrdma.sockets.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.transport.BypassTransport;
import org.jspecify.annotations.Nullable;

/**
 * A stream over a kernel socket, or over a transport without a kernel socket.
 *
 * <p>This class ensures that the operations of each direction run one after another, and closes the
 * channel when one of its threads is interrupted. A {@link StreamConnection} connects, a {@link
 * StreamReader} reads and a {@link StreamWriter} writes.
 */
public final class StreamChannel extends FabricSocketChannel implements Selectable {

    private final ChannelDescriptor endpoint;
    private final StreamConnection connection;
    private final DirectionGuard input;
    private final DirectionGuard output;
    private final StreamReader reader;
    private final StreamWriter writer;
    private final SocketAdaptorFactories adaptors;
    private final AtomicReference<@Nullable Socket> socket = new AtomicReference<>();

    /**
     * Creates an unconnected stream.
     *
     * @param replacement exchanges the socket when its address becomes known, because another
     *     transport may be configured for that address; null to keep the socket
     */
    public StreamChannel(
            SelectorProvider provider,
            int descriptor,
            SelectedTransport selected,
            @Nullable SocketReplacement replacement,
            SocketAdaptorFactories adaptors) {
        super(provider);
        this.adaptors = adaptors;
        endpoint = new ChannelDescriptor(this, descriptor);
        connection = new StreamConnection(endpoint, selected, replacement);
        input = endpoint.input();
        output = endpoint.output();
        reader = new StreamReader(connection, input);
        writer = new StreamWriter(connection, output);
    }

    /** Initializes this channel for a connection that was accepted from a kernel socket. */
    void accepted(SocketAddress local, SocketAddress remote) throws IOException {
        connection.accepted(local, remote);
    }

    /** Initializes this channel for a connection that was accepted without a kernel socket. */
    void accepted(BypassListener.Arrival arrival, BypassTransport transport) throws IOException {
        connection.use(arrival.stream(), transport);
        connection.accepted(arrival.local(), arrival.remote());
    }

    /** Returns the connection of the stream; empty if it is not connected. */
    public Optional<Connection> connection() {
        return connection.describe();
    }

    @Override
    public Transport transport() {
        return connection.selected().transport();
    }

    @Override
    public ChannelDescriptor endpoint() {
        return endpoint;
    }

    @Override
    public int possible() {
        return connection.possible();
    }

    /**
     * Starts an operation. The caller holds the lock of the direction, and must call {@link
     * #end(DirectionGuard, boolean)}, even if this method throws.
     *
     * @return false if the channel is closed, which {@link #end(DirectionGuard, boolean)} reports
     */
    private boolean begin(DirectionGuard direction) throws AsynchronousCloseException {
        var blocking = isBlocking();
        if (blocking) {
            begin(); // A pending interrupt closes the channel here.
        }
        return direction.enter(blocking);
    }

    /**
     * Ends an operation. Throws an exception if the channel was closed before the operation
     * succeeded.
     */
    private void end(DirectionGuard direction, boolean succeeded)
            throws AsynchronousCloseException {
        if (direction.leave()) {
            end(succeeded);
        }
    }

    @Override
    public StreamChannel bind(@Nullable SocketAddress address) throws IOException {
        endpoint.lockBoth();
        try {
            connection.bind(address);
        } finally {
            endpoint.unlockBoth();
        }
        return this;
    }

    @Override
    public boolean connect(SocketAddress address) throws IOException {
        return connect(address, Deadline.NEVER);
    }

    /**
     * Connects like {@link #connect(SocketAddress)}, but a blocking channel waits at most until
     * {@code deadline}.
     */
    public boolean connect(SocketAddress address, Deadline deadline) throws IOException {
        return connect(() -> connection.start(address, deadline), deadline);
    }

    @Override
    public boolean finishConnect() throws IOException {
        return connect(connection::pending, Deadline.NEVER);
    }

    private boolean connect(
            ChannelDescriptor.Call<@Nullable ConnectAttempt> start, Deadline deadline)
            throws IOException {
        try {
            endpoint.lockBoth();
            try {
                var attempt = start.make();
                return attempt == null || connect(attempt, deadline);
            } finally {
                endpoint.unlockBoth();
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private boolean connect(ConnectAttempt attempt, Deadline deadline) throws IOException {
        var result = SocketCalls.AGAIN;
        try {
            if (begin(output)) {
                do {
                    result = attempt.poll(output.isBlocking());
                } while (output.retry(result, deadline, "Connect timed out"));
            }
        } finally {
            end(output, result > 0);
        }
        if (result == SocketCalls.AGAIN) {
            return false;
        }
        if (result < 0) {
            throw SocketFailure.ofConnect(-result);
        }
        connection.connected();
        return true;
    }

    @Override
    public boolean isConnected() {
        return wasConnected() && isOpen();
    }

    /** Returns true if the stream is connected, or was connected when it was closed. */
    public boolean wasConnected() {
        return connection.wasConnected();
    }

    @Override
    public boolean isConnectionPending() {
        return connection.isPending() && isOpen();
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        endpoint.ensureOpen();
        return connection.local();
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        endpoint.ensureOpen();
        return connection.remote();
    }

    /** Returns the local address, even if the channel is closed; null if it was never bound. */
    public @Nullable InetSocketAddress lastLocalAddress() {
        return (InetSocketAddress) connection.local();
    }

    /** Returns the address of the last attempt to connect; null if there was no attempt. */
    public @Nullable InetSocketAddress lastRemoteAddress() {
        return (InetSocketAddress) connection.remote();
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        BufferTransfers.requireWritable(target);
        return read(target, Deadline.NEVER);
    }

    /** Reads in blocking mode, for an adaptor. Waits at most until {@code deadline}. */
    public int readBlocking(ByteBuffer target, Deadline deadline) throws IOException {
        requireBlocking();
        return read(target, deadline);
    }

    private int read(ByteBuffer target, Deadline deadline) throws IOException {
        var count = SocketCalls.AGAIN;
        input.lock();
        try {
            count = beginRead(target.remaining()) ? reader.read(target, deadline) : count;
        } finally {
            endRead(count);
        }
        return reader.finish(count);
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        var to = offset + length;
        BufferTransfers.requireWritable(targets, offset, to);
        var count = SocketCalls.AGAIN;
        input.lock();
        try {
            count =
                    beginRead(BufferTransfers.remaining(targets, offset, to))
                            ? reader.read(targets, offset, to)
                            : count;
        } finally {
            endRead(count);
        }
        return reader.finish(count);
    }

    @Override
    public long read(MemorySegment target) throws IOException {
        BufferTransfers.requireNative(target);
        BufferTransfers.requireWritable(target);
        var count = SocketCalls.AGAIN;
        input.lock();
        try {
            count = beginRead(target.byteSize()) ? reader.read(target) : count;
        } finally {
            endRead(count);
        }
        return reader.finish(count);
    }

    /**
     * Starts a read. The caller holds the lock of the input direction, and must call {@link
     * #endRead}, even if this method throws.
     *
     * @return false if nothing can be read, or the channel is closed
     */
    private boolean beginRead(long bytes) throws IOException {
        connection.ensureConnected();
        return reader.canRead(bytes) && begin(input);
    }

    /** Ends a read, and unlocks the input direction. */
    private void endRead(int count) throws AsynchronousCloseException {
        try {
            end(input, count > 0);
        } finally {
            input.unlock();
        }
    }

    private void requireBlocking() {
        if (!isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    public int available() throws IOException {
        return endpoint.call(() -> {
            connection.ensureConnected();
            return reader.available();
        });
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        var result = (long) SocketCalls.AGAIN;
        output.lock();
        try {
            result = beginWrite() ? writer.write(source) : result;
        } finally {
            endWrite(result);
        }
        return (int) writer.finish(result);
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        var result = (long) SocketCalls.AGAIN;
        output.lock();
        try {
            result = beginWrite() ? writer.write(sources, offset, offset + length) : result;
        } finally {
            endWrite(result);
        }
        return writer.finish(result);
    }

    @Override
    public long write(MemorySegment source) throws IOException {
        BufferTransfers.requireNative(source);
        var result = (long) SocketCalls.AGAIN;
        output.lock();
        try {
            result = beginWrite() ? writer.write(source) : result;
        } finally {
            endWrite(result);
        }
        return writer.finish(result);
    }

    /** Starts a write, like {@link #beginRead}. */
    private boolean beginWrite() throws IOException {
        connection.ensureConnected();
        writer.ensureNotShut();
        return begin(output);
    }

    /**
     * Ends a write, and unlocks the output direction. If the channel was closed after some bytes
     * were written, this write succeeds, and the next write reports the close.
     */
    private void endWrite(long result) throws AsynchronousCloseException {
        try {
            end(output, result >= 0);
        } catch (AsynchronousCloseException e) {
            if (result <= 0) {
                throw e;
            }
        } finally {
            output.unlock();
        }
    }

    /** Writes all remaining bytes in blocking mode, for an adaptor. */
    public void writeBlocking(ByteBuffer source) throws IOException {
        requireBlocking();
        while (source.hasRemaining()) {
            write(source);
        }
    }

    public void writeOutOfBand(int value) throws IOException {
        output.lock();
        try {
            connection.ensureConnected();
            if (connection.isBypassed()) {
                throw new SocketException(
                        "The transport %s does not support urgent data".formatted(transport()));
            }
            var result = SocketCalls.AGAIN;
            try {
                if (begin(output)) {
                    result = writer.writeOutOfBand(endpoint.descriptor(), value);
                }
            } finally {
                end(output, result > 0);
            }
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

    @Override
    public StreamChannel shutdownInput() throws IOException {
        return endpoint.call(() -> {
            connection.ensureConnected();
            reader.shutdown();
            return this;
        });
    }

    @Override
    public StreamChannel shutdownOutput() throws IOException {
        return endpoint.call(() -> {
            connection.ensureConnected();
            writer.shutdown();
            return this;
        });
    }

    public boolean isInputShut() {
        return reader.isShut();
    }

    public boolean isOutputShut() {
        return writer.isShut();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        // Each step is executed even if memory is exhausted: the JDK calls this method once.
        var reset = false;
        try {
            reset =
                    connection.isBypassed()
                            && Objects.equals(ChannelOption.LINGER.read(endpoint.descriptor()), 0);
        } finally {
            try {
                endpoint.close();
            } finally {
                connection.close(reset);
            }
        }
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
        return connection.selected().options().names();
    }

    @Override
    public <T> StreamChannel setOption(SocketOption<T> name, T value) throws IOException {
        connection.selected().options().set(endpoint, name, value);
        connection.optionChanged(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return connection.selected().options().get(endpoint, name);
    }

    @Override
    public Socket socket() {
        if (!(connection.selected().addresses() instanceof InternetFamily)) {
            throw new UnsupportedOperationException("Not supported");
        }
        if (socket.get() == null) {
            socket.compareAndSet(null, adaptors.stream().apply(this));
        }
        return Objects.requireNonNull(socket.get());
    }

    @Override
    public String toString() {
        return "StreamChannel[%s %s]"
                .formatted(transport().name(), isOpen() ? connection : "closed");
    }
}
