package org.jrdma.nvme;

import java.io.Closeable;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of a client to a {@link SharedControllerManager}. A timeout ends only the wait:
 * the next request waits until the reply to the last one has arrived. Safe for use by multiple
 * threads.
 */
final class ManagerConnection {

    private static final Logger LOG = LoggerFactory.getLogger(ManagerConnection.class);
    private static final long MILLI = 1_000_000;

    private final SocketAddress address;
    private final SocketChannel channel;
    private final Selector selector;
    private final ByteBuffer reply = ByteBuffer.allocate(ManagerReply.BYTES);
    private final AdminQueueLock lock;
    private boolean pending;

    private ManagerConnection(SocketAddress address, SocketChannel channel, Selector selector) {
        this.address = address;
        this.channel = channel;
        this.selector = selector;
        this.lock = new AdminQueueLock(this);
    }

    static ManagerConnection open(SocketAddress address, Deadline deadline) throws FabricException {
        SocketChannel channel = null;
        Selector selector = null;
        try {
            channel =
                    address instanceof UnixDomainSocketAddress
                            ? SocketChannel.open(StandardProtocolFamily.UNIX)
                            : SocketChannel.open();
            selector = Selector.open();
            channel.configureBlocking(false);
            var connection = new ManagerConnection(address, channel, selector);
            connection.connect(deadline);
            return connection;
        } catch (IOException | IllegalArgumentException e) {
            close(channel);
            close(selector);
            throw e instanceof FabricException failure
                    ? failure
                    : new FabricException(
                            "Cannot connect to the NVMe manager at %s: %s"
                                    .formatted(AddressText.of(address), e.getMessage()),
                            0,
                            e);
        }
    }

    private void connect(Deadline deadline) throws IOException {
        var key = channel.register(selector, SelectionKey.OP_CONNECT);
        var isConnected = channel.connect(address);
        while (!isConnected) {
            await("accept the connection", deadline);
            isConnected = channel.finishConnect();
        }
        key.interestOps(SelectionKey.OP_READ);
    }

    /**
     * Sends a request and waits for the reply.
     *
     * @throws NvmeException if the request failed, with the status of the command if there is one
     */
    ManagerReply execute(ManagerRequest request, Deadline deadline) throws FabricException {
        lock.lock("a request", deadline);
        try {
            if (pending) {
                var _ = receive(deadline);
            }
            var record = ByteBuffer.allocate(ManagerRequest.BYTES);
            request.encode(record);
            if (channel.write(record.flip()) != ManagerRequest.BYTES) {
                throw new IOException("the socket accepted only a part of a request");
            }
            pending = true;
            var result = receive(deadline);
            result.requireSuccess();
            return result;
        } catch (FabricException e) {
            throw e;
        } catch (IOException e) {
            throw new FabricException(
                    "The connection to the NVMe manager at %s has failed: %s. Close the drive and join a manager again."
                            .formatted(AddressText.of(address), e.getMessage()),
                    0,
                    e);
        } finally {
            lock.unlock();
        }
    }

    private ManagerReply receive(Deadline deadline) throws IOException {
        while (reply.hasRemaining()) {
            var count = channel.read(reply);
            if (count < 0) {
                throw new IOException("the manager has ended");
            } else if (count == 0) {
                await("reply", deadline);
            }
        }
        var result = ManagerReply.decode(reply.flip());
        reply.clear();
        pending = false;
        return result;
    }

    private void await(String event, Deadline deadline) throws IOException {
        var left = deadline.remainingNanos();
        if (left <= 0) {
            throw deadline.missed("%s did not %s".formatted(this, event));
        }
        selector.selectedKeys().clear();
        var _ = selector.select(Math.max(1, left / MILLI));
        if (ThreadInterruptDeferral.endWait()) {
            throw lock.interrupted("a reply");
        }
    }

    void close() {
        close(channel);
        close(selector);
    }

    private static void close(@Nullable Closeable closeable) {
        try {
            if (closeable != null) {
                closeable.close();
            }
        } catch (IOException e) {
            LOG.debug("Cannot close a connection to an NVMe manager", e);
        }
    }

    @Override
    public String toString() {
        return "the NVMe manager at " + AddressText.of(address);
    }
}
