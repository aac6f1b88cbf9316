package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;

/**
 * The drive of another node, which this node accesses over a connection (block redirection). A call
 * takes up to a timeout for each transfer.
 */
final class RedirectedDrive implements Drive {

    private final ServerConnector.Connection connection;
    private final long session;
    private final long blocks;
    private final Duration timeout;
    private final Operation write;
    private final Operation flush;

    /**
     * @param session the session of this client, which the other node checks
     * @param blocks the number of blocks of the drive
     */
    RedirectedDrive(
            ServerConnector.Connection connection, long session, long blocks, Duration timeout) {
        this(connection, session, blocks, timeout, Operation.WRITE_BLOCKS, Operation.FLUSH_BLOCKS);
    }

    private RedirectedDrive(
            ServerConnector.Connection connection,
            long session,
            long blocks,
            Duration timeout,
            Operation write,
            Operation flush) {
        this.connection = connection;
        this.session = session;
        this.blocks = blocks;
        this.timeout = timeout;
        this.write = write;
        this.flush = flush;
    }

    /** Returns the drive of the coordinator, for a data server that may not write to its own. */
    static RedirectedDrive ofCoordinator(
            ServerConnector.Connection connection, long session, long blocks, Duration timeout) {
        return new RedirectedDrive(
                connection,
                session,
                blocks,
                timeout,
                Operation.FORWARDED_WRITE,
                Operation.FORWARDED_FLUSH);
    }

    /** Returns this drive for the accesses of another session. */
    RedirectedDrive in(long other) {
        return new RedirectedDrive(connection, other, blocks, timeout);
    }

    /**
     * Returns the current state of the connection.
     *
     * @param server all addresses of the server
     */
    ConnectionDescription describe(List<String> server) {
        var state = connection.state();
        return new ConnectionDescription(
                server, state.transport(), state.description(), state.unused());
    }

    @Override
    public long blocks() {
        return blocks;
    }

    @Override
    public void read(long block, MemorySegment target) throws FabricException {
        Drive.checkRange(this, block, target);
        forEachPart(
                target,
                (offset, part) ->
                        connection.receive(
                                request(Operation.READ_BLOCKS, block + offset), part, timeout));
    }

    @Override
    public void write(long block, MemorySegment source) throws FabricException {
        Drive.checkRange(this, block, source);
        forEachPart(
                source,
                (offset, part) -> connection.send(request(write, block + offset), part, timeout));
    }

    @FunctionalInterface
    private interface Transfer {
        ByteBuffer run(long blockOffset, MemorySegment part) throws FabricException;
    }

    private void forEachPart(MemorySegment memory, Transfer transfer) throws FabricException {
        var partBytes = connection.maxTransferBytes() / BLOCK_BYTES * BLOCK_BYTES;
        for (var offset = 0L; offset < memory.byteSize(); offset += partBytes) {
            var part = memory.asSlice(offset, Math.min(partBytes, memory.byteSize() - offset));
            var block = offset / BLOCK_BYTES;
            execute(() -> transfer.run(block, part));
        }
    }

    @FunctionalInterface
    private interface Call {
        ByteBuffer run() throws FabricException;
    }

    private static void execute(Call call) throws FabricException {
        ByteBuffer reply;
        try {
            reply = call.run();
        } catch (FabricException | IllegalStateException e) {
            throw new MissingReplyException(e);
        }
        ReplyEncoding.decode(reply).end();
    }

    private ByteBuffer request(Operation operation, long block) {
        var encoder = RequestHeader.of(operation, session).encoder();
        encoder.writeLong(block);
        return ByteBuffer.wrap(encoder.bytes());
    }

    @Override
    public void flush() throws FabricException {
        var request = RequestHeader.of(flush, session).message();
        execute(() -> connection.call(request, timeout));
    }

    @Override
    public Fence fence() {
        return Fence.BY_CLOCK;
    }

    @Override
    public void close() {
        connection.close();
    }

    @Override
    public String toString() {
        return "remote drive over " + connection.transport();
    }
}
