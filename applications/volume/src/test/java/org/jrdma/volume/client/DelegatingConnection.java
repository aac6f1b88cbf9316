package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.ConnectionDescription;

/** A connection that forwards everything to another one, for tests that change a part of it. */
class DelegatingConnection implements ServerConnector.Connection {

    private final ServerConnector.Connection connection;

    DelegatingConnection(ServerConnector.Connection connection) {
        this.connection = connection;
    }

    @Override
    public ByteBuffer call(ByteBuffer request, Duration timeout) throws FabricException {
        return connection.call(request, timeout);
    }

    @Override
    public String transport() {
        return connection.transport();
    }

    @Override
    public ConnectionDescription state() {
        return connection.state();
    }

    @Override
    public int maxTransferBytes() {
        return connection.maxTransferBytes();
    }

    @Override
    public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration timeout)
            throws FabricException {
        return connection.send(request, source, timeout);
    }

    @Override
    public ByteBuffer receive(ByteBuffer request, MemorySegment target, Duration timeout)
            throws FabricException {
        return connection.receive(request, target, timeout);
    }

    @Override
    public void close() {
        connection.close();
    }
}
