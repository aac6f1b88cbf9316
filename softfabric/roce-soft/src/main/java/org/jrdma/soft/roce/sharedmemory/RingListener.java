package org.jrdma.soft.roce.sharedmemory;

import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listening socket of a port, which is closed for a second after a connection could not be
 * accepted. Such a connection would otherwise end each wait of the port at once, and its peer would
 * send packets that are never received. The kernel reports the end of the pending connections when
 * the socket is closed, and their peers use UDP.
 */
final class RingListener {

    private static final long CLOSED_NANOS = 1_000_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(RingListener.class);

    private final RoceGid own;
    private @Nullable OpenFile socket;

    /** The time at which the next listening socket is created if there is none. */
    private long reopens;

    RingListener(RoceGid own, OpenFile socket) {
        this.own = own;
        this.socket = socket;
    }

    static RingListener open(RoceGid own) throws FabricException {
        return new RingListener(own, listen(own));
    }

    private static OpenFile listen(RoceGid own) throws FabricException {
        return OpenFile.of(SeqPacketSocket.listen(RingAnnouncement.socketName(own)));
    }

    /** Returns the descriptor of the socket, or a negative number, which poll ignores. */
    int descriptor() {
        return socket == null ? -1 : socket.number();
    }

    /** Accepts a connection, which the caller must close. Returns null if there is none. */
    @Nullable OpenFile accept(long now) {
        var accepted =
                socket == null
                        ? SeqPacketSocket.NO_CONNECTION
                        : SeqPacketSocket.accept(socket.number());
        if (accepted == SeqPacketSocket.CANNOT_ACCEPT) {
            if (reopens == 0) {
                LOG.warn(
                        "The port {} cannot accept packets through shared memory: the process has no descriptor or no memory for another connection. New peers use UDP. Raise the limits of the process; see \"ulimit -n\".",
                        own);
            }
            close();
            reopens = now + CLOSED_NANOS;
        }
        return accepted < 0 ? null : OpenFile.of(accepted);
    }

    /**
     * Returns the time at which {@link #reopen} must be called; {@link Long#MAX_VALUE} if never.
     */
    long reopens() {
        return socket == null ? reopens : Long.MAX_VALUE;
    }

    /** Creates the socket again if its time has come. Returns true if that has succeeded. */
    boolean reopen(long now) {
        if (socket != null || now < reopens) {
            return false;
        }
        try {
            socket = listen(own);
            return true;
        } catch (FabricException e) {
            reopens = now + CLOSED_NANOS;
            return false;
        }
    }

    void close() {
        if (socket != null) {
            socket.close();
            socket = null;
        }
    }
}
