package org.jrdma.volume.net;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Deadline;
import org.jrdma.volume.net.BulkTransfer.Direction;
import org.jspecify.annotations.Nullable;

/**
 * A connection of a link, with its buffers.
 *
 * @param users counts the calls. The connection is closed when it was replaced and no call uses it
 */
record LinkPath(NodeConnection connection, WireAddress address, BufferPool buffers, Users users) {

    LinkPath(NodeConnection connection, WireAddress address, int freeBuffers) {
        this(
                connection,
                address,
                new BufferPool(connection, freeBuffers),
                new Users(() -> BlockingCalls.start(connection::close)));
    }

    boolean isOpen() {
        return connection.end().isEmpty();
    }

    /**
     * Makes a call whose bulk data is copied to or from a buffer of the connection.
     *
     * @param direction the direction of the bulk data; null for none
     */
    ByteBuffer call(
            ByteBuffer request,
            MemorySegment data,
            @Nullable Direction direction,
            Deadline deadline)
            throws IOException {
        if (direction == null) {
            return connection.call(request, deadline);
        }
        var bytes = (int) data.byteSize();
        var buffer = buffers.take(bytes);
        var completed = false;
        try {
            var memory = buffer.memory();
            if (direction == Direction.TO_PEER) {
                MemorySegment.copy(data, 0, memory, 0, bytes);
            }
            var bulk = new BulkTransfer(buffer, 0, bytes, direction);
            var reply = connection.call(request, bulk, deadline);
            if (direction == Direction.FROM_PEER) {
                MemorySegment.copy(memory, 0, data, 0, bytes);
            }
            completed = true;
            return reply;
        } finally {
            if (completed) {
                buffers.giveBack(buffer);
            } else {
                buffer.close(); // the peer may still access it
            }
        }
    }
}
