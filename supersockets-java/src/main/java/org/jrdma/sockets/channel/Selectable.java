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

    ChannelDescriptor endpoint();

    /** Returns the operations that are possible in the current state of the channel. */
    default int possible() {
        return READS | WRITES;
    }

    /** Converts an interest set to the epoll events to wait for. */
    static int events(int interest) {
        return ((interest & READS) == 0 ? 0 : EPOLLIN) | ((interest & WRITES) == 0 ? 0 : EPOLLOUT);
    }

    /**
     * Returns the operations of an interest set that epoll events make ready. An error event makes
     * all of them ready, so that the next operation reports the error.
     */
    default int ready(int events, int interest) {
        if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
            return interest;
        }
        var ready = ((events & EPOLLIN) == 0 ? 0 : READS) | ((events & EPOLLOUT) == 0 ? 0 : WRITES);
        return ready & possible() & interest;
    }
}
