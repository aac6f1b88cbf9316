package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import org.jrdma.ffi.FabricException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A client of a {@link SharedControllerManager}, whose requests one thread executes. */
final class ManagerClientSession {

    private static final Logger LOG = LoggerFactory.getLogger(ManagerClientSession.class);

    private final AdministeredController controller;
    private final ManagerClientQueues queues;
    private final SocketChannel channel;

    ManagerClientSession(
            AdministeredController controller, ManagerClientQueues queues, SocketChannel channel) {
        this.controller = controller;
        this.queues = queues;
        this.channel = channel;
    }

    /** Executes requests until the connection ends, and then deletes the queues of the client. */
    void serve() {
        try (channel) {
            var record = ByteBuffer.allocate(ManagerRequest.BYTES);
            while (receive(record)) {
                var request = ManagerRequest.decode(record.flip());
                if (request == null) {
                    LOG.warn("A client of {} sent a malformed request", controller);
                    return;
                }
                send(execute(request));
            }
        } catch (ClosedChannelException _) {
            // the manager is being closed
        } catch (IOException e) {
            LOG.debug("The connection to a client of {} has failed", controller, e);
        } finally {
            deleteQueues();
        }
    }

    /** Receives a record. Returns false if the client has ended. */
    private boolean receive(ByteBuffer record) throws IOException {
        record.clear();
        while (record.hasRemaining()) {
            if (channel.read(record) < 0) {
                return false;
            }
        }
        return true;
    }

    private void send(ManagerReply reply) throws IOException {
        var record = ByteBuffer.allocate(ManagerReply.BYTES);
        reply.encode(record);
        record.flip();
        while (record.hasRemaining()) {
            var _ = channel.write(record);
        }
    }

    private ManagerReply execute(ManagerRequest request) {
        try {
            return switch (request) {
                case ManagerRequest.ReadPage(var page, var namespace) ->
                        ManagerReply.of(
                                controller.read(
                                        page,
                                        namespace,
                                        data -> MemorySegment.ofArray(data.toArray(JAVA_BYTE))));
                case ManagerRequest.CreateQueue(var memory) ->
                        ManagerReply.of(queues.create(this, memory));
                case ManagerRequest.DeleteQueue(var id) -> {
                    queues.delete(this, id);
                    yield ManagerReply.of(0);
                }
                case ManagerRequest.DeleteAllQueues() -> {
                    queues.deleteAll(this);
                    yield ManagerReply.of(0);
                }
            };
        } catch (FabricException e) {
            return ManagerReply.failure(
                    e.getMessage(), e instanceof NvmeException failure ? failure.code() : 0);
        }
    }

    private void deleteQueues() {
        try {
            queues.deleteAll(this);
        } catch (FabricException e) {
            LOG.warn(
                    "Cannot delete the queues of a client that has ended: {}. They remain in use until {} is reset.",
                    e.getMessage(),
                    controller);
        }
    }

    /** Ends the connection. */
    void disconnect() {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("Cannot close the connection to a client of {}", controller, e);
        }
    }
}
