package org.jrdma.volume.net;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;

/**
 * The transport of one connection: transfers frames, and the bulk data of calls. Safe for use by
 * multiple threads, except for the methods of the receiving thread.
 *
 * <p>The serving side of a call has an area of memory for bulk data. The calling side allocates
 * ranges of this area, and includes their offsets in its requests.
 */
sealed interface Wire permits SocketWire, VerbsWire, SisciWire {

    /** Connects to the address of a listener. */
    static Wire connect(WireAddress address, NodeOptions options, Deadline deadline)
            throws IOException {
        return switch (address.transport()) {
            case VERBS -> VerbsWire.connect(address.place(), options, deadline);
            case SISCI -> SisciWire.connect(address.place(), options, deadline);
            case SOCKETS -> SocketWire.connect(address.place(), options, deadline);
        };
    }

    TransportKind transport();

    /** A description of the connection for messages, such as {@code sockets (tcp) to host:7471}. */
    @Override
    String toString();

    /** The memory for the bulk data of incoming calls. */
    MemorySegment area();

    /** Creates a buffer for the bulk data of own calls. */
    NodeBuffer newBuffer(int bytes) throws FabricException;

    /**
     * Sends a frame.
     *
     * @param data the bulk data if {@link FrameHeader#carriesData}; otherwise ignored
     * @throws org.jrdma.ffi.FabricTimeoutException if the deadline passes; the frame was not sent
     * @throws java.io.InterruptedIOException if the thread is interrupted; the frame was not sent
     * @throws IOException if the connection fails
     */
    void send(FrameHeader header, ByteBuffer payload, MemorySegment data, Deadline deadline)
            throws IOException;

    /** Waits for a frame. Called only by the receiving thread. */
    Frame receive() throws IOException;

    /**
     * Receives the bulk data that follow a frame in the same stream. Called only by the receiving
     * thread, after {@link #receive()}. Does nothing if the transport moves the data otherwise.
     */
    void receiveData(MemorySegment target) throws IOException;

    /** Moves the bulk data of a request to the area, if {@link #receiveData} has not. */
    void fetchData(FrameHeader request, MemorySegment target, Deadline deadline) throws IOException;

    /** Ends all calls of the other methods, and rejects further ones. Frees no memory. */
    void shutdown();

    /** Frees everything. Called once, after {@link #shutdown} and when no thread uses this wire. */
    void close();
}
