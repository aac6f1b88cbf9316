package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.host.SignalSocket;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The triggers of an interrupt for which the program waits in {@code SCIWaitForInterrupt}.
 *
 * <p>Each connected process has a socket. The signal that it sends wakes up the waiting thread, and
 * no other thread of this process. Several triggers in quick succession may count as one. Safe for
 * use by multiple threads.
 */
final class InterruptTriggerWaiter {

    private static final Logger LOG = LoggerFactory.getLogger(InterruptTriggerWaiter.class);

    /**
     * The maximum number of sockets of one process. Further connections of the process trigger the
     * interrupt by messages.
     */
    private static final int MAX_SOCKETS = 4;

    private static final int BATCH = 16;

    /** The key of {@code local} in the epoll set. */
    private static final long LOCAL = 0;

    private final int epoll;

    /** Readable while {@code pending} or {@code closed} is true. */
    private final RaisableDescriptor local;

    // The other fields are guarded by this.

    /** The sockets by their keys in the epoll set. A key is not reused, unlike a descriptor. */
    private final Map<Long, Socket> sockets = new HashMap<>();

    private long lastKey = LOCAL;

    /** True after a trigger by message. */
    private boolean pending;

    private int waitingThreads;
    private boolean closed;

    private record Socket(Connection peer, int receiver) {}

    /**
     * A socket of a peer.
     *
     * @param key the key for {@link #remove}
     * @param sender the descriptor for the peer, which the caller must close
     */
    record PeerSocket(long key, int sender) {}

    InterruptTriggerWaiter() throws FabricException {
        local = RaisableDescriptor.open();
        try {
            epoll = LinuxCalls.epollCreate();
            try {
                watch(local.number(), LOCAL);
            } catch (Throwable e) {
                SystemCalls.close(epoll);
                throw e;
            }
        } catch (Throwable e) {
            local.close();
            throw e;
        }
    }

    private void watch(int descriptor, long key) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var event = arena.allocate(LinuxCalls.EpollEvent.BYTES, 8);
            LinuxCalls.EpollEvent.set(event, LinuxCalls.EPOLLIN, key);
            LinuxCalls.epollControl(epoll, LinuxCalls.EPOLL_CTL_ADD, descriptor, event);
        }
    }

    /**
     * Creates a socket for a peer. Returns empty if the peer has too many sockets, or this process
     * has no descriptor left.
     */
    synchronized Optional<PeerSocket> open(Connection peer) {
        var existing = sockets.values().stream().filter(each -> each.peer() == peer).count();
        if (closed || existing >= MAX_SOCKETS) {
            return Optional.empty();
        }
        try {
            var pair = SignalSocket.open();
            var key = lastKey + 1;
            try {
                sockets.put(key, new Socket(peer, pair.receiver()));
                watch(pair.receiver(), key);
                lastKey = key;
                return Optional.of(new PeerSocket(key, pair.sender()));
            } catch (Throwable e) {
                sockets.remove(key);
                SystemCalls.close(pair.receiver());
                SystemCalls.close(pair.sender());
                throw e;
            }
        } catch (FabricException e) {
            LOG.debug("Triggers are received by message: {}", e.getMessage());
            return Optional.empty();
        }
    }

    /**
     * Closes a socket, unless it is closed already. A trigger that the peer has sent before remains
     * pending.
     */
    synchronized void remove(long key) {
        var socket = sockets.remove(key);
        if (socket != null) {
            if (SignalSocket.receive(socket.receiver()) > 0) {
                trigger();
            }
            SystemCalls.close(socket.receiver()); // This also removes it from the epoll set.
        }
    }

    /** Triggers the interrupt because of a message. */
    synchronized void trigger() {
        if (!pending && !closed) {
            pending = true;
            local.raise();
        }
    }

    /**
     * Waits for a trigger.
     *
     * @param milliseconds the timeout as an unsigned number; SCI_INFINITE_TIMEOUT for none
     * @throws SciException if the timeout expires, or the interrupt is removed
     */
    void await(int milliseconds) {
        enter();
        try (var arena = Arena.ofConfined()) {
            var events = arena.allocate(BATCH * LinuxCalls.EpollEvent.BYTES, 8);
            var timeout = UninterruptibleWait.nanos(milliseconds);
            var start = System.nanoTime();
            var left = timeout;
            do {
                var millis = milliseconds == SCI_INFINITE_TIMEOUT() ? -1 : roundUp(left);
                var count =
                        SciException.translate(
                                () -> LinuxCalls.epollWait(epoll, events, BATCH, millis));
                if (takes(events, count)) {
                    return;
                }
                // Another thread has taken the trigger, or the timeout has expired.
                left = timeout - (System.nanoTime() - start);
            } while (left > 0);
            throw new SciException(SCI_ERR_TIMEOUT());
        } finally {
            leave();
        }
    }

    private static int roundUp(long nanos) {
        return (int)
                Math.min(
                        Integer.MAX_VALUE,
                        Math.ceilDiv(Math.max(0, nanos), TimeUnit.MILLISECONDS.toNanos(1)));
    }

    private synchronized void enter() {
        throwIf(closed, SCI_ERR_CANCELLED());
        waitingThreads++;
    }

    private synchronized void leave() {
        waitingThreads--;
        notifyAll();
    }

    /** Takes the triggers that epoll has reported. Returns false if there were none. */
    private synchronized boolean takes(MemorySegment events, int count) {
        throwIf(closed, SCI_ERR_CANCELLED());
        var taken = false;
        for (var i = 0; i < count; i++) {
            var key = LinuxCalls.EpollEvent.data(events, i);
            taken |= key == LOCAL ? takesPending() : receives(key);
        }
        return taken;
    }

    private boolean takesPending() {
        if (!pending) {
            return false;
        }
        pending = false;
        local.lower();
        return true;
    }

    private boolean receives(long key) {
        var socket = sockets.get(key);
        if (socket == null) {
            return false;
        }
        var received = SignalSocket.receive(socket.receiver());
        if (received == 0) {
            remove(key); // The peer has closed its end, and epoll would report this forever.
        }
        return received > 0;
    }

    /** Ends all waits, and closes all descriptors after the last wait has ended. */
    synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        local.raise();
        UninterruptibleWait.until(this, Long.MAX_VALUE, () -> waitingThreads == 0);
        sockets.values().forEach(socket -> SystemCalls.close(socket.receiver()));
        sockets.clear();
        SystemCalls.close(epoll);
        local.close();
    }
}
