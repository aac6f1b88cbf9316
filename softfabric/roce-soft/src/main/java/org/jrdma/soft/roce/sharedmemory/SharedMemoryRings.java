package org.jrdma.soft.roce.sharedmemory;

import java.lang.foreign.Arena;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rings of packets between a port and other ports of processes of the same user on the same
 * kernel. Confined to one thread at a time.
 */
public final class SharedMemoryRings implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedMemoryRings.class);

    /** The maximum interval between calls of {@link #poll}. */
    private static final long CHECK_NANOS = 500_000;

    private final Runnable wakeUp;
    private final IncomingRings incoming;
    private final OutgoingRings outgoing;
    private final SeqPacketSocket.Set set =
            new SeqPacketSocket.Set(
                    1 + IncomingRings.MAX_CONNECTIONS + OutgoingRings.MAX_RINGS, Arena.ofAuto());
    private long checked;

    /** True if a sleeping thread may have been woken up by an event that was not handled yet. */
    private boolean wasWoken;

    private int @Nullable [] descriptors;

    /** True if the waiting flags of the rings are set. */
    private boolean waiting;

    SharedMemoryRings(RoceGid own, RingListener listener, LocalUser user, Runnable changed) {
        wakeUp = changed;
        Runnable update =
                () -> {
                    descriptors = null;
                    changed.run();
                };
        incoming = new IncomingRings(own, listener, user, update);
        outgoing = new OutgoingRings(own, user, update);
    }

    /**
     * Starts to accept rings from other ports.
     *
     * @param own the address of the port, which no other port of this network namespace has
     * @param changed wakes up the thread that sleeps, because {@link #descriptors} or the rings
     *     have changed
     * @return the rings; null if shared memory cannot be used
     */
    public static @Nullable SharedMemoryRings open(RoceGid own, Runnable changed) {
        return open(own, LocalUser.ofThisProcess(), changed);
    }

    static @Nullable SharedMemoryRings open(RoceGid own, LocalUser user, Runnable changed) {
        if (!user.isKnown() || own.isLinkLocal()) {
            return null;
        }
        try {
            var listener = RingListener.open(own);
            try {
                return new SharedMemoryRings(own, listener, user, changed);
            } catch (Throwable e) {
                listener.close();
                throw e;
            }
        } catch (FabricException e) {
            LOG.debug("The port {} does not receive packets through shared memory", own, e);
            return null;
        }
    }

    public OutgoingRings outgoing() {
        return outgoing;
    }

    /** Returns the rings from which packets can be read, in an array that is never modified. */
    public PacketRingReader[] incoming() {
        return incoming.rings();
    }

    /** Calls {@link #poll}, unless it was called recently and no sleep has ended since then. */
    public void check(long now) {
        if (wasWoken || now - checked >= CHECK_NANOS) {
            poll(now);
        }
    }

    /**
     * Accepts rings of other ports, receives signals, and removes rings whose other end was closed
     * or has written invalid values.
     */
    public void poll(long now) {
        wasWoken = false;
        checked = now;
        set.clear();
        for (var descriptor : descriptors()) {
            set.add(descriptor, SeqPacketSocket.READABLE);
        }
        set.poll();
        outgoing.removeClosed(set, incoming.count());
        if (incoming.process(set, now) && waiting) {
            // The thread that sleeps, or is about to sleep, must set the waiting flags again.
            wakeUp.run();
        }
    }

    /**
     * Returns the time at which {@link #poll} must be called although no descriptor has an event.
     */
    public long nextDeadline() {
        return incoming.nextDeadline();
    }

    /**
     * Prepares for sleep: peers that append a packet from now on send a signal. Returns false if a
     * packet has already arrived, or {@link #poll} must remove a ring.
     */
    public boolean prepareToWait() {
        waiting = true;
        var mayWait = !outgoing.hasBroken();
        for (var ring : incoming.rings()) {
            mayWait &= ring.waiting(true);
        }
        return mayWait;
    }

    /** Ends the sleep: peers need not send signals. */
    public void endWait() {
        if (waiting) {
            waiting = false;
            wasWoken = true;
            for (var ring : incoming.rings()) {
                ring.waiting(false);
            }
        }
    }

    /**
     * Returns the descriptors that have an event when a sleeping thread must wake up, in an array
     * that is never modified.
     */
    public int[] descriptors() {
        var current = descriptors;
        if (current == null) {
            current = new int[incoming.count() + outgoing.count()];
            outgoing.addTo(current, incoming.addTo(current, 0));
            descriptors = current;
        }
        return current;
    }

    /** Closes all rings. Packets that peers have not received yet remain available to them. */
    @Override
    public void close() {
        incoming.close();
        outgoing.close();
    }
}
