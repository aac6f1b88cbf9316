package org.jrdma.volume.net;

import java.io.IOException;
import java.util.List;
import org.jrdma.ffi.Deadline;

/** Accepts connections of one transport. */
sealed interface WireListener extends AutoCloseable
        permits SocketWireListener, VerbsWireListener, SisciWireListener {

    /** A connect request, which the listener accepts without blocking other requests. */
    interface WireRequest {
        /** Accepts the request. Releases everything if it fails. */
        Wire accept(Deadline deadline) throws IOException;

        /** Rejects the request. */
        void reject();
    }

    /** Listens over a transport. */
    static WireListener open(TransportKind transport, NodeOptions options) throws IOException {
        return switch (transport) {
            case SOCKETS -> new SocketWireListener(options);
            case VERBS -> new VerbsWireListener(options);
            case SISCI -> new SisciWireListener(options);
        };
    }

    TransportKind transport();

    /** The addresses to which peers can connect. */
    List<String> addresses();

    /** Waits for a request. Throws any exception after {@link #close()}. */
    WireRequest next() throws IOException;

    @Override
    void close();
}
