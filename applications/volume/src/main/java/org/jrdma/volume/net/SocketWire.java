package org.jrdma.volume.net;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.FabricSockets;
import org.jrdma.sockets.OpenConnections;
import org.jrdma.volume.model.VolumeException;

/**
 * A connection over a stream. The bulk data of a frame follow the frame.
 *
 * <p>The garbage collector frees the memory of buffers, because a thread in a system call can use
 * it until the channel is closed.
 */
final class SocketWire implements Wire {

    private static final int STAGING_BYTES = FrameHeader.BYTES + NodeConnection.MAX_MESSAGE_BYTES;
    private static final int PAGE = 4096;

    private final SocketChannel channel;
    private final int areaBytes;
    private final String description;
    private final ReentrantLock sending = new ReentrantLock();

    /** The header and the payload of the frame that is being sent. Guarded by {@link #sending}. */
    private final ByteBuffer outgoing = ByteBuffer.allocateDirect(STAGING_BYTES);

    /** Received bytes. Used only by the receiving thread. */
    private final ByteBuffer incoming = ByteBuffer.allocateDirect(STAGING_BYTES).flip();

    /** Created by the receiving thread when the first request with bulk data arrives. */
    private MemorySegment area = MemorySegment.NULL;

    SocketWire(SocketChannel channel, NodeOptions options) throws IOException {
        this.channel = channel;
        this.areaBytes = options.bulkBytes;
        if (channel.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        var connection = OpenConnections.of(channel);
        this.description =
                "sockets (%s) %s %s"
                        .formatted(
                                connection.transport(),
                                connection.accepted() ? "from" : "to",
                                AddressText.of(connection.peer()));
    }

    /**
     * Connects to a listener.
     *
     * @param place the host and the port, separated by a colon
     */
    static SocketWire connect(String place, NodeOptions options, Deadline deadline)
            throws IOException {
        var peer = HostAndPort.parse(place);
        var remaining = Duration.ofNanos(Math.max(0, deadline.remainingNanos()));
        var channel = open(peer, options, remaining);
        try {
            return new SocketWire(channel, options);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /**
     * Opens a channel. If no transport of sockets connects, the message of the exception has the
     * reason for the least preferred one, which is usually TCP. The cause has all reasons.
     */
    private static SocketChannel open(HostAndPort peer, NodeOptions options, Duration timeout)
            throws IOException {
        try {
            return options.streams.isPresent()
                    ? FabricSockets.connect(
                            peer.host(), peer.port(), options.streams.get(), timeout)
                    : FabricSockets.connect(peer.host(), peer.port(), timeout);
        } catch (FabricException e) {
            var attempts = e.getSuppressed();
            if (attempts.length == 0) {
                throw e;
            }
            throw new VolumeException(
                    String.valueOf(attempts[attempts.length - 1].getMessage()), e);
        }
    }

    @Override
    public TransportKind transport() {
        return TransportKind.SOCKETS;
    }

    @Override
    public String toString() {
        return description;
    }

    @Override
    public MemorySegment area() {
        if (area.byteSize() == 0) {
            area = Arena.ofAuto().allocate(areaBytes, PAGE);
        }
        return area;
    }

    @Override
    public NodeBuffer newBuffer(int bytes) {
        return new NodeBuffer(this, Arena.ofAuto().allocate(bytes, PAGE), 0, 0, () -> {});
    }

    @Override
    public void send(FrameHeader header, ByteBuffer payload, MemorySegment data, Deadline deadline)
            throws IOException {
        try {
            if (!sending.tryLock(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)) {
                throw deadline.missed("The peer accepted no data");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting to send a message");
        }
        try {
            outgoing.clear();
            header.encode(outgoing);
            outgoing.put(payload.duplicate()).flip();
            if (header.carriesData()) {
                write(outgoing, data.asByteBuffer());
            } else {
                write(outgoing);
            }
        } finally {
            sending.unlock();
        }
    }

    private void write(ByteBuffer... buffers) throws IOException {
        while (buffers[buffers.length - 1].hasRemaining()) {
            channel.write(buffers);
        }
    }

    @Override
    public Frame receive() throws IOException {
        fill(FrameHeader.BYTES);
        var header = FrameHeader.decode(incoming);
        fill(header.payloadBytes());
        var payload = new byte[header.payloadBytes()];
        incoming.get(payload);
        return new Frame(header, ByteBuffer.wrap(payload));
    }

    /** Reads until {@code incoming} contains a number of bytes. */
    private void fill(int bytes) throws IOException {
        if (incoming.remaining() >= bytes) {
            return;
        }
        incoming.compact();
        try {
            while (incoming.position() < bytes) {
                read(incoming);
            }
        } finally {
            incoming.flip();
        }
    }

    private void read(ByteBuffer target) throws IOException {
        if (channel.read(target) < 0) {
            throw new EOFException("the peer closed the stream");
        }
    }

    @Override
    public void receiveData(MemorySegment target) throws IOException {
        var buffer = target.asByteBuffer();
        var buffered = Math.min(incoming.remaining(), buffer.remaining());
        buffer.put(incoming.slice().limit(buffered));
        incoming.position(incoming.position() + buffered);
        while (buffer.hasRemaining()) {
            read(buffer);
        }
    }

    @Override
    public void fetchData(FrameHeader request, MemorySegment target, Deadline deadline) {
        // receiveData() has received the data
    }

    @Override
    public void shutdown() {
        try {
            channel.close();
        } catch (IOException _) {
            // the channel is closed in any case
        }
    }

    @Override
    public void close() {
        // shutdown() has closed the channel
    }
}
