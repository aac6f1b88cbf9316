package org.jrdma.sockets;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.Linux;

/**
 * What one epoll descriptor has been told of one channel. A channel of which nothing is wanted is
 * not known there at all, or its failure would be reported without end.
 */
final class Registration {

    private final int epoll;
    private final long number;
    private final MemorySegment event = Arena.ofAuto().allocate(Linux.EpollEvent.BYTES, 8);
    private int events;
    private int last;

    /**
     * Of nothing yet.
     *
     * @param number by which the kernel is to tell of the channel; never used twice
     */
    Registration(int epoll, long number) {
        this.epoll = epoll;
        this.number = number;
    }

    long number() {
        return number;
    }

    /** Asks for these events alone. For the {@link Endpoint}, under its lock. */
    void listen(int descriptor, int wanted) throws FabricException {
        if (wanted == events) {
            return;
        }
        Linux.EpollEvent.set(event, wanted, number);
        Linux.epollControl(epoll, operation(wanted), descriptor, event);
        last = events;
        events = wanted;
    }

    /** Asks for what was asked for last, of another descriptor. */
    void listenAgain(int descriptor) throws FabricException {
        listen(descriptor, last);
    }

    private int operation(int wanted) {
        if (wanted == 0) {
            return Linux.EPOLL_CTL_DEL;
        }
        return events == 0 ? Linux.EPOLL_CTL_ADD : Linux.EPOLL_CTL_MOD;
    }
}
