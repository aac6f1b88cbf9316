package org.jrdma.sockets.channel;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;

/** The registration of a channel with a selector, which has an interest set and a ready set. */
final class FabricSelectionKey extends AbstractSelectionKey {

    private final FabricSelector selector;
    private final Selectable channel;
    private final EpollRegistration registration;
    private final AtomicBoolean queued = new AtomicBoolean();
    private volatile int interest;
    private volatile int ready;

    /**
     * The number of the last selection in which the key was processed. Used only by the selecting
     * thread.
     */
    private long lastRound;

    /**
     * True if the interest set has changed since the selector read it. Guarded by the monitor of
     * the selector's queue of changes.
     */
    private boolean changed;

    /**
     * Creates a key with an empty interest set.
     *
     * @param epoll the epoll descriptor of the selector
     * @param number the number that identifies the channel in events of the kernel
     */
    FabricSelectionKey(FabricSelector selector, Selectable channel, int epoll, long number) {
        this.selector = selector;
        this.channel = channel;
        this.registration = new EpollRegistration(epoll, number, () -> selector.notifyReady(this));
    }

    @Override
    public SelectableChannel channel() {
        return (SelectableChannel) channel;
    }

    @Override
    public FabricSelector selector() {
        return selector;
    }

    @Override
    public int interestOps() {
        ensureValid();
        return interest;
    }

    /**
     * Sets the interest set. Synchronized like the methods of the superclass that set and clear
     * single bits, so that no change is lost.
     */
    @Override
    public synchronized FabricSelectionKey interestOps(int operations) {
        ensureValid();
        if ((operations & ~channel().validOps()) != 0) {
            throw new IllegalArgumentException();
        }
        if (interest != operations) {
            interest = operations;
            selector.interestChanged(this);
        }
        return this;
    }

    @Override
    public int readyOps() {
        ensureValid();
        return ready;
    }

    private void ensureValid() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    Selectable selectable() {
        return channel;
    }

    EpollRegistration registration() {
        return registration;
    }

    /** Sets the flag {@code changed}. Returns false if it was already set. */
    boolean markChanged() {
        var first = !changed;
        changed = true;
        return first;
    }

    /** Returns the interest set, and clears the flag {@code changed}. */
    int takeInterest() {
        changed = false;
        return interest;
    }

    /**
     * Returns true for the first call in a selection.
     *
     * @param round the number of the selection
     */
    boolean isFirstIn(long round) {
        var first = lastRound != round;
        lastRound = round;
        return first;
    }

    /**
     * Sets the flag that the key is queued for a readiness check. Returns false if it was already
     * set.
     */
    boolean markQueued() {
        return queued.compareAndSet(false, true);
    }

    /** Returns the epoll events for which the readiness source of the channel is ready. */
    int checkReadiness() {
        queued.set(false);
        return isValid() ? channel.endpoint().readyBySource(Selectable.events(interest)) : 0;
    }

    /** Returns the operations of the interest set that epoll events make ready. */
    int readyFor(int events) {
        return channel.ready(events, interest);
    }

    /** Sets the ready set. */
    void replaceReady(int operations) {
        ready = operations;
    }

    /** Adds to the ready set; returns false if it did not change. */
    boolean addReady(int operations) {
        var before = ready;
        ready = before | operations;
        return ready != before;
    }
}
