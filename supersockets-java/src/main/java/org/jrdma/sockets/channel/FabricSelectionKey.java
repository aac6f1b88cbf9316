package org.jrdma.sockets.channel;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;

/** What a selector is to tell of a channel, and what it has told. */
final class FabricSelectionKey extends AbstractSelectionKey {

    private final FabricSelector selector;
    private final Selectable channel;
    private final Registration registration;
    private final AtomicBoolean awaitsLook = new AtomicBoolean();
    private volatile int interest;
    private volatile int ready;

    /** For the thread in a selection. */
    private long lastRound;

    /** Whether the selector has yet to hear of the interest. For the selector, under its lock. */
    private boolean changed;

    /**
     * @param epoll the selector's
     * @param number by which the kernel is to tell of the channel
     */
    FabricSelectionKey(FabricSelector selector, Selectable channel, int epoll, long number) {
        this.selector = selector;
        this.channel = channel;
        this.registration = new Registration(epoll, number, () -> selector.told(this));
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

    /** Synchronized as the superclass's methods that set and clear single bits. */
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

    Registration registration() {
        return registration;
    }

    /** Marks the interest as not yet heard of; false if it was so already. */
    boolean markChanged() {
        var first = !changed;
        changed = true;
        return first;
    }

    /** What is wanted, which the selector now hears of. */
    int takeInterest() {
        changed = false;
        return interest;
    }

    /** Whether it has not been asked this of that selection before. */
    boolean isFirstIn(long round) {
        var first = lastRound != round;
        lastRound = round;
        return first;
    }

    /** Marks the channel as one to be looked at; false if it was so already. */
    boolean markToBeLookedAt() {
        return awaitsLook.compareAndSet(false, true);
    }

    /** Looks at the channel: what of epoll's events it is ready for, where epoll does not tell. */
    int look() {
        awaitsLook.set(false);
        return isValid() ? channel.endpoint().readyBySource(Selectable.events(interest)) : 0;
    }

    /** What of epoll's answer this key is interested in. */
    int readyFor(int events) {
        return channel.ready(events, interest);
    }

    void replaceReady(int operations) {
        ready = operations;
    }

    /** Adds to what is ready; false if it was there already. */
    boolean addReady(int operations) {
        var before = ready;
        ready = before | operations;
        return ready != before;
    }
}
