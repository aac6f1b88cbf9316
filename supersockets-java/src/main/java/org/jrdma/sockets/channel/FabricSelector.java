package org.jrdma.sockets.channel;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.LinuxCalls.EpollEvent;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.WakeablePoll;
import org.jspecify.annotations.Nullable;

/**
 * A selector that uses epoll(7), for all channels of the provider. Changes of interest sets are
 * passed to the kernel at the start of the next selection, as in the selectors of the JDK.
 */
public final class FabricSelector extends AbstractSelector {

    private static final int BATCH = 512;
    private static final long WAKE_UP = -1;

    private final int epoll;
    private final RaisableDescriptor signal;
    private final MemorySegment events = Arena.ofAuto().allocate(BATCH * EpollEvent.BYTES, 8);

    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> keysView = Collections.unmodifiableSet(keys);
    private final Set<SelectionKey> selected = new HashSet<>();
    private final Set<SelectionKey> selectedView = new SelectedKeys(selected);

    /**
     * The keys by the number that identifies them in epoll events. Guarded by {@code changes}, like
     * the fields below.
     */
    private final Map<Long, FabricSelectionKey> byNumber = new HashMap<>();

    private final ArrayQueue<FabricSelectionKey> changes = new ArrayQueue<>();
    private long nextNumber;

    /** The keys whose readiness source has notified the selector. Any thread adds to it. */
    private final Queue<FabricSelectionKey> notified = new ConcurrentLinkedQueue<>();

    private final Object signalLock = new Object();
    private boolean signaled;
    private boolean signaledByProgram;
    private boolean signalClosed;

    /**
     * The thread that is in a selection; null if there is none. Written while the monitor of the
     * selector is held, which also guards the fields below.
     */
    private volatile @Nullable Thread selecting;

    private long round;
    private boolean wokenUp;
    private final List<ReadyKey> readyKeys = new ArrayList<>();

    private @Nullable DescriptorWaiter waiter;

    public FabricSelector(SelectorProvider provider) throws IOException {
        super(provider);
        signal = RaisableDescriptor.open();
        try {
            epoll = LinuxCalls.epollCreate();
        } catch (Throwable e) {
            signal.close();
            throw e;
        }
        try {
            new EpollRegistration(epoll, WAKE_UP, () -> {})
                    .update(signal.number(), LinuxCalls.EPOLLIN);
        } catch (Throwable e) {
            SocketCalls.close(epoll);
            signal.close();
            throw e;
        }
    }

    @Override
    public Set<SelectionKey> keys() {
        ensureOpen();
        return keysView;
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        ensureOpen();
        return selectedView;
    }

    private void ensureOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    @Override
    protected SelectionKey register(
            AbstractSelectableChannel channel, int operations, @Nullable Object attachment) {
        if (!(channel instanceof Selectable selectable)) {
            throw new IllegalSelectorException();
        }
        FabricSelectionKey key;
        synchronized (changes) {
            ensureOpen();
            key = new FabricSelectionKey(this, selectable, epoll, nextNumber++);
            byNumber.put(key.registration().number(), key);
        }
        key.attach(attachment);
        keys.add(key);
        if (!isOpen()) {
            forget(key); // A close by another thread may not have seen the new key.
            throw new ClosedSelectorException();
        }
        try {
            key.interestOps(operations);
        } catch (CancelledKeyException e) {
            ensureOpen(); // A close by another thread cancels all keys.
            throw e;
        }
        return key;
    }

    /** Queues a key whose interest set has changed. Called on any thread. */
    void interestChanged(FabricSelectionKey key) {
        synchronized (changes) {
            changes.reserve(changes.size() + 1); // A marked key must be in the queue.
            if (key.markChanged()) {
                changes.add(key);
            }
        }
    }

    @Override
    public int select() throws IOException {
        return select(null, Deadline.NEVER);
    }

    @Override
    public int select(long timeout) throws IOException {
        return select(null, deadline(timeout));
    }

    @Override
    public int selectNow() throws IOException {
        return select(null, null);
    }

    @Override
    public int select(Consumer<SelectionKey> action) throws IOException {
        return select(Objects.requireNonNull(action), Deadline.NEVER);
    }

    @Override
    public int select(Consumer<SelectionKey> action, long timeout) throws IOException {
        Objects.requireNonNull(action);
        return select(action, deadline(timeout));
    }

    @Override
    public int selectNow(Consumer<SelectionKey> action) throws IOException {
        return select(Objects.requireNonNull(action), null);
    }

    private static Deadline deadline(long timeout) {
        if (timeout < 0) {
            throw new IllegalArgumentException("Negative timeout");
        }
        return timeout == 0 ? Deadline.NEVER : Deadline.after(Duration.ofMillis(timeout));
    }

    /** Performs a selection. Waits until {@code deadline}; if that is null, does not wait. */
    private int select(@Nullable Consumer<SelectionKey> action, @Nullable Deadline deadline)
            throws IOException {
        synchronized (this) {
            ensureOpen();
            if (selecting != null) {
                throw new IllegalStateException("select in progress");
            }
            selecting = Thread.currentThread();
            try {
                synchronized (selectedView) {
                    dropCancelledKeys();
                    processChanges();
                    return waitAndProcess(deadline, action);
                }
            } finally {
                selecting = null;
            }
        }
    }

    /**
     * Waits for events and updates the keys. Repeats the wait if only the wake-up descriptor was
     * signaled, although the program has not called {@link #wakeup}, and no key was updated.
     */
    private int waitAndProcess(@Nullable Deadline deadline, @Nullable Consumer<SelectionKey> action)
            throws IOException {
        while (true) {
            round++;
            wokenUp = false;
            checkNotified();
            var count = deadline == null || !readyKeys.isEmpty() ? poll(0) : await(deadline);
            dropCancelledKeys();
            if (readyKeys.isEmpty()) {
                checkNotified(); // Channels may have notified the selector during the wait.
            }
            var isSignalAlone = count == 1 && EpollEvent.data(events, 0) == WAKE_UP;
            var updated = processEvents(count, action) + processReadyKeys(action);
            if (updated > 0 || deadline == null || !isSignalAlone || wokenUp || !isOpen()) {
                return updated;
            }
        }
    }

    private record ReadyKey(FabricSelectionKey key, int events) {}

    /**
     * Checks the channels that have notified the selector, and the channels that were ready in the
     * last check. A ready channel is checked in each selection until it is no longer ready, so that
     * it is reported like a level-triggered event of the kernel.
     */
    private void checkNotified() {
        for (var left = notified.size(); left > 0; left--) {
            var key = notified.poll();
            if (key == null) {
                return;
            }
            var ready = key.checkReadiness();
            if (ready != 0) {
                readyKeys.add(new ReadyKey(key, ready));
            }
        }
    }

    private int processReadyKeys(@Nullable Consumer<SelectionKey> action) {
        var updated = 0;
        try {
            for (var entry : readyKeys) {
                if (entry.key.isValid()) {
                    updated += updateReadySet(entry.key, entry.events, action) ? 1 : 0;
                }
            }
        } finally {
            for (var entry : readyKeys) {
                if (entry.key.markQueued()) {
                    notified.add(entry.key); // These channels are checked in the next selection.
                }
            }
            readyKeys.clear();
        }
        return updated;
    }

    /** Queues a key whose readiness source may be ready. Called on any thread. */
    void notifyReady(FabricSelectionKey key) {
        if (key.markQueued()) {
            notified.add(key);
            // The selecting thread checks the queue before it waits, so it needs no wake-up.
            if (Thread.currentThread() != selecting) {
                signal(false);
            }
        }
    }

    private int poll(int milliseconds) throws FabricException {
        return LinuxCalls.epollWait(epoll, events, BATCH, milliseconds);
    }

    private int await(Deadline deadline) throws IOException {
        begin();
        try {
            return Thread.currentThread().isVirtual() ? park(deadline) : block(deadline);
        } finally {
            end();
        }
    }

    /** Waits in epoll_wait(2), and calls it again if a signal has ended it early. */
    private int block(Deadline deadline) throws FabricException {
        int count;
        do {
            count = poll(WakeablePoll.milliseconds(deadline));
        } while (count == 0 && !deadline.hasPassed());
        return count;
    }

    /**
     * Parks a virtual thread until the epoll descriptor is readable, which means that it has
     * events.
     */
    private int park(Deadline deadline) throws IOException {
        if (waiter == null) {
            waiter = DescriptorWaiter.on(epoll);
        }
        while (true) {
            var ticket = waiter.ticket();
            var count = poll(0);
            if (count > 0) {
                return count;
            }
            try {
                if (!waiter.await(ticket, deadline)) {
                    return 0;
                }
            } catch (InterruptedIOException _) {
                return poll(0); // The interrupt has signaled the wake-up descriptor.
            }
        }
    }

    private void processChanges() throws IOException {
        synchronized (changes) {
            for (var key = changes.pollFirst(); key != null; key = changes.pollFirst()) {
                var interest = key.takeInterest();
                if (key.isValid()) {
                    key.selectable()
                            .endpoint()
                            .register(key.registration(), Selectable.events(interest));
                }
            }
        }
    }

    /** Updates the ready sets from the events of the kernel; returns the number of keys updated. */
    private int processEvents(int count, @Nullable Consumer<SelectionKey> action) {
        var updated = 0;
        for (var i = 0; i < count; i++) {
            var number = EpollEvent.data(events, i);
            if (number == WAKE_UP) {
                clearSignal();
                continue;
            }
            FabricSelectionKey key;
            synchronized (changes) {
                key = byNumber.get(number);
            }
            if (key != null && key.isValid()) {
                updated += updateReadySet(key, EpollEvent.events(events, i), action) ? 1 : 0;
            }
        }
        return updated;
    }

    private boolean updateReadySet(
            FabricSelectionKey key, int occurred, @Nullable Consumer<SelectionKey> action) {
        var ready = key.readyFor(occurred);
        if (action == null && selected.contains(key)) {
            return key.addReady(ready);
        }
        if (action != null && !key.isFirstIn(round)) {
            // The key was already processed in this selection: both the kernel and the readiness
            // source have reported the channel.
            return false;
        }
        key.replaceReady(ready);
        if (ready == 0) {
            return false;
        }
        if (action == null) {
            selected.add(key);
        } else {
            action.accept(key);
            ensureOpen();
        }
        return true;
    }

    private void dropCancelledKeys() {
        var cancelled = cancelledKeys();
        synchronized (cancelled) {
            for (var keys = cancelled.iterator(); keys.hasNext(); ) {
                var key = (FabricSelectionKey) keys.next();
                // Removed first, so that a failure of forget() is not repeated in every selection.
                keys.remove();
                forget(key);
            }
        }
    }

    /**
     * Removes a key from all sets, and the registration of its channel from epoll unless the
     * channel is closed.
     */
    private void forget(FabricSelectionKey key) {
        try {
            key.selectable().endpoint().register(key.registration(), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // Removing an existing registration does not fail.
        }
        synchronized (changes) {
            byNumber.remove(key.registration().number());
        }
        keys.remove(key);
        selected.remove(key);
        deregister(key);
    }

    @Override
    public Selector wakeup() {
        signal(true);
        return this;
    }

    private void signal(boolean byProgram) {
        synchronized (signalLock) {
            signaledByProgram |= byProgram;
            if (!signaled && !signalClosed) {
                signaled = true;
                signal.raise();
            }
        }
    }

    private void clearSignal() {
        synchronized (signalLock) {
            signaled = false;
            wokenUp |= signaledByProgram;
            signaledByProgram = false;
            signal.lower();
        }
    }

    @Override
    protected void implCloseSelector() throws IOException {
        wakeup();
        synchronized (this) {
            synchronized (selectedView) {
                for (var key : keys) {
                    key.cancel();
                    forget((FabricSelectionKey) key);
                }
                if (waiter != null) {
                    waiter.close();
                }
                synchronized (signalLock) {
                    signalClosed = true;
                    signal.close();
                }
                SocketCalls.close(epoll);
            }
        }
    }
}
