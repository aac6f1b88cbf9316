package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.protocol.PeerConnection;

/** Connects a client to the servers of a volume. */
@FunctionalInterface
public interface ServerConnector {

    /** A connection to a server, which the client closes. */
    interface Connection extends PeerConnection, AutoCloseable {

        /** Returns the name of the transport for messages. */
        String transport();

        /** Returns the current state. */
        default ConnectionDescription state() {
            return new ConnectionDescription(List.of(), transport(), transport(), List.of());
        }

        /** Returns the largest number of bytes of one transfer. */
        int maxTransferBytes();

        /**
         * Sends a request, and memory that the server reads.
         *
         * @throws FabricException as specified for {@link #call}
         */
        ByteBuffer send(ByteBuffer request, MemorySegment source, Duration timeout)
                throws FabricException;

        /**
         * Sends a request, and memory that the server fills.
         *
         * @throws FabricException as specified for {@link #call}
         */
        ByteBuffer receive(ByteBuffer request, MemorySegment target, Duration timeout)
                throws FabricException;

        @Override
        void close();
    }

    /**
     * Connects to a server.
     *
     * @param addresses the addresses of the server, one for each transport
     * @param incoming executes the requests of the server, and returns the replies
     * @throws FabricException if no address can be connected in time
     */
    Connection connect(List<String> addresses, UnaryOperator<ByteBuffer> incoming, Duration timeout)
            throws FabricException;
}
