package org.jrdma.sockets.channel;

import static org.jrdma.ffi.linkage.LinuxCalls.EPOLLERR;
import static org.jrdma.ffi.linkage.LinuxCalls.EPOLLHUP;
import static org.jrdma.ffi.linkage.LinuxCalls.EPOLLIN;
import static org.jrdma.ffi.linkage.LinuxCalls.EPOLLOUT;

import java.nio.channels.SelectionKey;

/** A channel that can be registered with a {@link FabricSelector}. */
interface Selectable {

    /** The operations that are ready when epoll reports EPOLLIN. */
    int READS = SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;

    /** The operations that are ready when epoll reports EPOLLOUT. */
    int WRITES = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;

    Endpoint endpoint();

    /** Returns the operations that are possible in the current state of the channel. */
    default int possible() {
        return READS | WRITES;
    }

    /** Returns the epoll events to wait for if the interest set is {@code interest}. */
    static int events(int interest) {
        return ((interest & READS) == 0 ? 0 : EPOLLIN) | ((interest & WRITES) == 0 ? 0 : EPOLLOUT);
    }

    /**
     * Returns the operations of an interest set that epoll events make ready. A failure makes all
     * of them ready, because the next operation reports the failure.
     */
    default int ready(int events, int interest) {
        if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
            return interest;
        }
        var ready = ((events & EPOLLIN) == 0 ? 0 : READS) | ((events & EPOLLOUT) == 0 ? 0 : WRITES);
        return ready & possible() & interest;
    }
}
