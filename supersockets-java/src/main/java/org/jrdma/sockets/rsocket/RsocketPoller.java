package org.jrdma.sockets.rsocket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrdma.abi.rdma.pollfd;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.EventDescriptor;
import org.jrdma.sockets.internal.SocketCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread in rpoll for all rsockets of this process, since the kernel's poll knows nothing of
 * them. It is woken by a descriptor in the same set. Each watch ends with what it was for.
 */
final class RsocketPoller {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketPoller.class);
    private static final int OVER = RsocketCalls.POLLERR | RsocketCalls.POLLHUP;
    private static final long PAUSE_MILLIS = 10;

    private final RsocketCalls calls;
    private final EventDescriptor bell;

    /** Something that is watched. */
    interface Watched {

        /** Its rsocket. */
        int number();

        /** Something has happened to it. On the poller's thread, and must not wait. */
        void happened();
    }

    /** What is wanted of one; nothing while it is left alone. */
    private static final class Watch {
        private final Watched who;
        private int events;
        private boolean leftAlone;

        Watch(Watched who) {
            this.who = who;
        }
    }

    // Guarded by this
    private final Map<Integer, Watch> watches = new HashMap<>();
    private boolean rung;
    private boolean polling;
    private long round;

    /** For the thread alone: the bell, then what is watched in this round. */
    private MemorySegment descriptors = pollfd.allocateArray(16, Arena.ofAuto());

    private final List<Watch> watched = new ArrayList<>();

    private RsocketPoller(RsocketCalls calls, EventDescriptor bell) {
        this.calls = calls;
        this.bell = bell;
    }

    static RsocketPoller start(RsocketCalls calls) throws FabricException {
        var poller = new RsocketPoller(calls, EventDescriptor.open());
        Thread.ofPlatform().daemon().name("jrdma-rsocket-poll").start(poller::run);
        return poller;
    }

    /** Tells {@code who}, once, when one of these events happens. */
    synchronized void watch(Watched who, int events) {
        var watch = watches.computeIfAbsent(who.number(), _ -> new Watch(who));
        if ((watch.events & events) != events) {
            watch.events |= events;
            if (!watch.leftAlone) {
                ring();
            }
        }
    }

    /**
     * From now on, and until {@link #resume}, the thread knows nothing of it. Waits for the thread
     * to come around, so it is not for the thread itself.
     */
    synchronized void leaveAlone(Watched who) {
        watches.computeIfAbsent(who.number(), _ -> new Watch(who)).leftAlone = true;
        awaitRound();
    }

    synchronized void resume(Watched who) {
        var watch = watches.get(who.number());
        if (watch != null) {
            watch.leftAlone = false;
            ring();
        }
    }

    /** The same for good. */
    synchronized void forget(Watched who) {
        if (watches.remove(who.number()) != null) {
            awaitRound();
        }
    }

    private void awaitRound() {
        ring();
        var now = round;
        var interrupted = false;
        while (polling && round == now) {
            try {
                wait();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void ring() {
        if (polling && !rung) {
            rung = true;
            bell.raise();
        }
    }

    private void run() {
        while (true) {
            try {
                goRound();
            } catch (InterruptedException | RuntimeException e) {
                LOG.error("The round of rsockets has ended early", e); // all of them rely on this
            }
        }
    }

    private void goRound() throws InterruptedException {
        MemorySegment several;
        synchronized (this) {
            several = collect();
            polling = true;
        }
        var count = calls.poll(several, true);
        var happened = new ArrayList<Watched>();
        synchronized (this) {
            polling = false;
            round++;
            if (rung) {
                rung = false;
                bell.lower();
            }
            for (var i = 0; count > 0 && i < watched.size(); i++) {
                note(watched.get(i), pollfd.revents(pollfd.asSlice(several, i + 1)), happened);
            }
            watched.clear();
            notifyAll();
        }
        happened.forEach(Watched::happened);
        if (count < 0) {
            Thread.sleep(PAUSE_MILLIS); // no memory, or a signal
        }
    }

    private MemorySegment collect() {
        for (var watch : watches.values()) {
            if (watch.events != 0 && !watch.leftAlone) {
                watched.add(watch);
            }
        }
        var count = watched.size() + 1L;
        if (descriptors.byteSize() < count * pollfd.sizeof()) {
            descriptors = pollfd.allocateArray(2 * count, Arena.ofAuto());
        }
        set(0, bell.number(), SocketCalls.POLLIN);
        for (var i = 0; i < watched.size(); i++) {
            set(i + 1, watched.get(i).who.number(), watched.get(i).events);
        }
        return descriptors.asSlice(0, count * pollfd.sizeof());
    }

    private void set(int index, int number, int events) {
        var one = pollfd.asSlice(descriptors, index);
        pollfd.fd(one, number);
        pollfd.events(one, (short) events);
        pollfd.revents(one, (short) 0);
    }

    private void note(Watch watch, int events, List<Watched> happened) {
        if (events == 0 || watches.get(watch.who.number()) != watch) {
            return;
        }
        watch.events &= (events & OVER) == 0 ? ~events : 0;
        happened.add(watch.who);
    }
}
