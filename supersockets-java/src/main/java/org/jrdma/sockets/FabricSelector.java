package org.jrdma.sockets;

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
import java.time.Duration;
import java.util.ArrayDeque;
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

    /** Those of which something has been told in Java, on any thread. */
    private final Queue<FabricSelectionKey> told = new ConcurrentLinkedQueue<>();

    private final Object bellLock = new Object();
    private boolean rung;
    private boolean rungForProgram;
    private boolean bellClosed;

    /** For the thread in a selection, under the selector's monitor, as what follows. */
    private volatile @Nullable Thread selecting;

    private long round;
    private boolean wokenUp;
    private final List<Look> looks = new ArrayList<>();

    private @Nullable DescriptorWaiter waiter;

    FabricSelector(FabricSelectorProvider provider) throws IOException {
        super(provider);
        bell = EventDescriptor.open();
        try {
            epoll = Linux.epollCreate();
            new Registration(epoll, WAKE_UP, () -> {}).listen(bell.number(), Linux.EPOLLIN);
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
            key = new FabricSelectionKey(this, selectable, epoll, nextNumber++);
            byNumber.put(key.registration().number(), key);
        }
        key.attach(attachment);
        keys.add(key);
        if (!isOpen()) {
            forget(key); // the close may have gone past it already
            throw new ClosedSelectorException();
        }
        try {
            key.interestOps(operations);
        } catch (CancelledKeyException e) {
            ensureOpen(); // whose close cancels all keys
            throw e;
        }
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
            if (selecting != null) {
                throw new IllegalStateException("select in progress");
            }
            selecting = Thread.currentThread();
            try {
                synchronized (selectedView) {
                    dropCancelledKeys();
                    tellChanges();
                    return waitAndTell(deadline, action);
                }
            } finally {
                selecting = null;
            }
        }
    }

    /** A program must take no notice of a wake-up that was not its own, and told of nothing. */
    private int waitAndTell(@Nullable Deadline deadline, @Nullable Consumer<SelectionKey> action)
            throws IOException {
        while (true) {
            round++;
            wokenUp = false;
            look();
            var count = deadline == null || !looks.isEmpty() ? poll(0) : await(deadline);
            dropCancelledKeys();
            if (looks.isEmpty()) {
                look(); // at what was told of meanwhile
            }
            var isBellAlone = count == 1 && EpollEvent.data(events, 0) == WAKE_UP;
            var updated = tell(count, action) + tellLooks(action);
            if (updated > 0 || deadline == null || !isBellAlone || wokenUp || !isOpen()) {
                return updated;
            }
        }
    }

    /** What a channel was ready for when it was looked at. */
    private record Look(FabricSelectionKey key, int events) {}

    /**
     * Looks at the channels that were told of, and at those that were ready before, as the kernel
     * does: who is ready stays so until it is found not to be.
     */
    private void look() {
        for (var left = told.size(); left > 0; left--) {
            var key = told.poll();
            if (key == null) {
                return;
            }
            var ready = key.look();
            if (ready != 0) {
                looks.add(new Look(key, ready));
            }
        }
    }

    private int tellLooks(@Nullable Consumer<SelectionKey> action) {
        var updated = 0;
        try {
            for (var look : looks) {
                if (look.key.isValid()) {
                    updated += tell(look.key, look.events, action) ? 1 : 0;
                }
            }
        } finally {
            for (var look : looks) {
                if (look.key.markToBeLookedAt()) {
                    told.add(look.key); // in the next selection
                }
            }
            looks.clear();
        }
        return updated;
    }

    /** Called on any thread when a channel may be ready of which the kernel does not tell. */
    void told(FabricSelectionKey key) {
        if (key.markToBeLookedAt()) {
            told.add(key);
            if (Thread.currentThread() != selecting) { // which looks before it waits
                ring(false);
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
        if (action != null && !key.isFirstIn(round)) {
            return false; // by the kernel and in Java
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
                keys.remove(); // first: what fails must not fail with every select
                forget(key);
            }
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
        ring(true);
        return this;
    }

    private void ring(boolean forTheProgram) {
        synchronized (bellLock) {
            rungForProgram |= forTheProgram;
            if (!rung && !bellClosed) {
                rung = true;
                bell.raise();
            }
        }
    }

    private void silence() {
        synchronized (bellLock) {
            rung = false;
            wokenUp |= rungForProgram;
            rungForProgram = false;
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
