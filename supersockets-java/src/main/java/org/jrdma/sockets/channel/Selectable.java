package org.jrdma.sockets.channel;

import static org.jrdma.ffi.linkage.LinuxCalls.EPOLLERR;
import static org.jrdma.ffi.linkage.LinuxCalls.EPOLLHUP;
import static org.jrdma.ffi.linkage.LinuxCalls.EPOLLIN;
import static org.jrdma.ffi.linkage.LinuxCalls.EPOLLOUT;

import java.nio.channels.SelectionKey;

/** A channel that {@link FabricSelector} can select. */
interface Selectable {

    /** The operations that EPOLLIN makes ready. */
    int READS = SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;

    /** The operations that EPOLLOUT makes ready. */
    int WRITES = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;

    Endpoint endpoint();

    /** Returns the operations that are possible in the current state of the channel. */
    default int possible() {
        return READS | WRITES;
    }

    /** Returns the epoll events for an interest set. */
    static int events(int interest) {
        return ((interest & READS) == 0 ? 0 : EPOLLIN) | ((interest & WRITES) == 0 ? 0 : EPOLLOUT);
    }

    /**
     * Returns the ready operations for epoll events. A failure makes all operations ready, because
     * the next operation reports it.
     */
    default int ready(int events, int interest) {
        if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
            return interest;
        }
        var ready = ((events & EPOLLIN) == 0 ? 0 : READS) | ((events & EPOLLOUT) == 0 ? 0 : WRITES);
        return ready & possible() & interest;
    }
}
