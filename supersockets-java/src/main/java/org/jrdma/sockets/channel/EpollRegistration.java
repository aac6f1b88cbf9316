package org.jrdma.sockets.channel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;

/**
 * The events for which a channel is registered with one epoll descriptor. A channel without
 * requested events is removed from epoll, because epoll would otherwise report a failure of the
 * channel in every call.
 */
final class EpollRegistration {

    private final int epoll;
    private final long number;
    private final Runnable onReady;
    private final MemorySegment event = Arena.ofAuto().allocate(LinuxCalls.EpollEvent.BYTES, 8);
    private int requested;
    private int events;

    /**
     * Creates a registration without events.
     *
     * @param epoll the epoll descriptor
     * @param number the number that identifies the channel in events of the kernel; never reused
     * @param onReady called when a {@link org.jrdma.sockets.internal.ReadinessSource} of the
     *     channel may be ready
     */
    EpollRegistration(int epoll, long number, Runnable onReady) {
        this.epoll = epoll;
        this.number = number;
        this.onReady = onReady;
    }

    long number() {
        return number;
    }

    Runnable onReady() {
        return onReady;
    }

    void update(int descriptor, int events) throws FabricException {
        setEvents(events);
        update(descriptor);
    }

    /**
     * Sets the requested events, which the next {@link #update(int)} passes to epoll. The {@link
     * ChannelDescriptor} calls this method and the methods below while it holds its lock.
     */
    void setEvents(int events) {
        requested = events;
    }

    /** Passes the requested events to epoll. */
    void update(int descriptor) throws FabricException {
        apply(descriptor, requested);
    }

    /** Removes the channel from epoll, until the next {@link #update(int)}. */
    void remove(int descriptor) throws FabricException {
        apply(descriptor, 0);
    }

    private void apply(int descriptor, int next) throws FabricException {
        if (next == events) {
            return;
        }
        LinuxCalls.EpollEvent.set(event, next, number);
        LinuxCalls.epollControl(epoll, operation(next), descriptor, event);
        events = next;
    }

    private int operation(int next) {
        if (next == 0) {
            return LinuxCalls.EPOLL_CTL_DEL;
        }
        return events == 0 ? LinuxCalls.EPOLL_CTL_ADD : LinuxCalls.EPOLL_CTL_MOD;
    }
}
