package org.jrdma.sockets;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.EventDescriptor;
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.ffi.linkage.Linux.EpollEvent;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;

/**
 * A selector on epoll(7), for all channels of the provider's. Interests that change are told to the
 * kernel at the beginning of the next selection, as with the JDK's selectors.
 */
final class FabricSelector extends AbstractSelector {

    private static final int BATCH = 512;
    private static final long WAKE_UP = -1;

    private final int epoll;
    private final EventDescriptor bell;
    private final MemorySegment events = Arena.ofAuto().allocate(BATCH * EpollEvent.BYTES, 8);

    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> keysView = Collections.unmodifiableSet(keys);
    private final Set<SelectionKey> selected = new HashSet<>();
    private final Set<SelectionKey> selectedView = new SelectedKeys(selected);

    /** By the number that the kernel has; guarded by {@code changes}, as they are. */
    private final Map<Long, FabricSelectionKey> byNumber = new HashMap<>();

    private final Queue<FabricSelectionKey> changes = new ArrayDeque<>();
    private long nextNumber;

    private final Object bellLock = new Object();
    private boolean rung;
    private boolean bellClosed;

    /** For the thread in a selection, under the selector's monitor. */
    private boolean selecting;

    private @Nullable DescriptorWaiter waiter;

    FabricSelector(FabricSelectorProvider provider) throws IOException {
        super(provider);
        bell = EventDescriptor.open();
        try {
            epoll = Linux.epollCreate();
            new Registration(epoll, WAKE_UP).listen(bell.number(), Linux.EPOLLIN);
        } catch (FabricException e) {
            bell.close();
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
            key = new FabricSelectionKey(this, selectable, new Registration(epoll, nextNumber++));
            byNumber.put(key.registration().number(), key);
        }
        key.attach(attachment);
        keys.add(key);
        if (!isOpen()) {
            forget(key); // the close may have gone past it already
            throw new ClosedSelectorException();
        }
        key.interestOps(operations);
        return key;
    }

    /** Called on any thread when a key's interest is another. */
    void interestChanged(FabricSelectionKey key) {
        synchronized (changes) {
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

    /** Selects: waits until {@code deadline}, or not at all where there is none. */
    private int select(@Nullable Consumer<SelectionKey> action, @Nullable Deadline deadline)
            throws IOException {
        synchronized (this) {
            ensureOpen();
            if (selecting) {
                throw new IllegalStateException("select in progress");
            }
            selecting = true;
            try {
                synchronized (selectedView) {
                    dropCancelledKeys();
                    tellChanges();
                    var count = deadline == null ? poll(0) : await(deadline);
                    dropCancelledKeys();
                    return tell(count, action);
                }
            } finally {
                selecting = false;
            }
        }
    }

    private int poll(int milliseconds) throws FabricException {
        return Linux.epollWait(epoll, events, BATCH, milliseconds);
    }

    private int await(Deadline deadline) throws IOException {
        begin();
        try {
            return Thread.currentThread().isVirtual() ? park(deadline) : block(deadline);
        } finally {
            end();
        }
    }

    /**
     * In the kernel. A signal ends an epoll_wait early, which a program must not take notice of.
     */
    private int block(Deadline deadline) throws FabricException {
        int count;
        do {
            count = poll(milliseconds(deadline));
        } while (count == 0 && !deadline.hasPassed());
        return count;
    }

    private static int milliseconds(Deadline deadline) {
        if (deadline.equals(Deadline.NEVER)) {
            return -1;
        }
        var remaining = Math.max(0, deadline.remainingNanos());
        return (int)
                Math.min(
                        Integer.MAX_VALUE,
                        Math.ceilDiv(remaining, TimeUnit.MILLISECONDS.toNanos(1)));
    }

    /** In Java: an epoll descriptor is itself readable when it has something to tell. */
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
                return poll(0); // the interrupt has rung the bell
            }
        }
    }

    private void tellChanges() throws IOException {
        synchronized (changes) {
            for (var key = changes.poll(); key != null; key = changes.poll()) {
                var interest = key.takeInterest();
                if (key.isValid()) {
                    key.selectable()
                            .endpoint()
                            .listen(key.registration(), Selectable.events(interest));
                }
            }
        }
    }

    /** Tells the program what the kernel has told; how many keys have become ready for more. */
    private int tell(int count, @Nullable Consumer<SelectionKey> action) {
        var updated = 0;
        for (var i = 0; i < count; i++) {
            var number = EpollEvent.data(events, i);
            if (number == WAKE_UP) {
                silence();
                continue;
            }
            FabricSelectionKey key;
            synchronized (changes) {
                key = byNumber.get(number);
            }
            if (key != null && key.isValid()) {
                updated += tell(key, EpollEvent.events(events, i), action) ? 1 : 0;
            }
        }
        return updated;
    }

    private boolean tell(
            FabricSelectionKey key, int happened, @Nullable Consumer<SelectionKey> action) {
        var ready = key.readyFor(happened);
        if (action == null && selected.contains(key)) {
            return key.addReady(ready);
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
            for (var key : cancelled) {
                forget((FabricSelectionKey) key);
            }
            cancelled.clear();
        }
    }

    /** The channel may be closed by now; then the kernel knows nothing of it any more. */
    private void forget(FabricSelectionKey key) {
        try {
            key.selectable().endpoint().listen(key.registration(), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // it was there, so the kernel cannot refuse
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
        synchronized (bellLock) {
            if (!rung && !bellClosed) {
                rung = true;
                bell.raise();
            }
        }
        return this;
    }

    private void silence() {
        synchronized (bellLock) {
            rung = false;
            bell.lower();
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
                synchronized (bellLock) {
                    bellClosed = true;
                    bell.close();
                }
                SocketCalls.close(epoll);
            }
        }
    }
}
