package org.jrdma.sockets.channel;

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
    private final Runnable told;
    private final MemorySegment event = Arena.ofAuto().allocate(Linux.EpollEvent.BYTES, 8);
    private int wanted;
    private int events;

    /**
     * Of nothing yet.
     *
     * @param number by which the kernel is to tell of the channel; never used twice
     * @param told to be run where it is not the kernel that tells
     */
    Registration(int epoll, long number, Runnable told) {
        this.epoll = epoll;
        this.number = number;
        this.told = told;
    }

    long number() {
        return number;
    }

    /** What is run where it is not the kernel that tells. */
    Runnable told() {
        return told;
    }

    /** Wants these events alone, and asks the kernel for them. */
    void listen(int descriptor, int events) throws FabricException {
        want(events);
        listen(descriptor);
    }

    /** Wants these events alone. For the {@link Endpoint}, under its lock, as all that follows. */
    void want(int events) {
        wanted = events;
    }

    /** Asks the kernel for what is wanted. */
    void listen(int descriptor) throws FabricException {
        ask(descriptor, wanted);
    }

    /** Asks the kernel for nothing, whatever is wanted. */
    void listenNoMore(int descriptor) throws FabricException {
        ask(descriptor, 0);
    }

    private void ask(int descriptor, int next) throws FabricException {
        if (next == events) {
            return;
        }
        Linux.EpollEvent.set(event, next, number);
        Linux.epollControl(epoll, operation(next), descriptor, event);
        events = next;
    }

    private int operation(int next) {
        if (next == 0) {
            return Linux.EPOLL_CTL_DEL;
        }
        return events == 0 ? Linux.EPOLL_CTL_ADD : Linux.EPOLL_CTL_MOD;
    }
}
