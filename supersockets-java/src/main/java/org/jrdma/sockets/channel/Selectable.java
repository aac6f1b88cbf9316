package org.jrdma.sockets.channel;

import static org.jrdma.ffi.linkage.Linux.EPOLLERR;
import static org.jrdma.ffi.linkage.Linux.EPOLLHUP;
import static org.jrdma.ffi.linkage.Linux.EPOLLIN;
import static org.jrdma.ffi.linkage.Linux.EPOLLOUT;

import java.nio.channels.SelectionKey;

/** A channel that {@link FabricSelector} can select. */
interface Selectable {

    /** The operations that epoll tells of by EPOLLIN, and those by EPOLLOUT. */
    int READS = SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;

    int WRITES = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;

    Endpoint endpoint();

    /** The operations that can make sense now; a connection that is not there cannot be read. */
    default int possible() {
        return READS | WRITES;
    }

    /** What to ask epoll for. */
    static int events(int interest) {
        return ((interest & READS) == 0 ? 0 : EPOLLIN) | ((interest & WRITES) == 0 ? 0 : EPOLLOUT);
    }

    /** What epoll's answer means: a failure shows in whatever is tried next. */
    default int ready(int events, int interest) {
        if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
            return interest;
        }
        var ready = ((events & EPOLLIN) == 0 ? 0 : READS) | ((events & EPOLLOUT) == 0 ? 0 : WRITES);
        return ready & possible() & interest;
    }
}
