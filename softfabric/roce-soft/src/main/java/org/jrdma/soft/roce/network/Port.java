package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.PacketListener;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An engine on the network: it takes what comes to one address of this machine and sends what the
 * engine has to send.
 *
 * <p>Whoever comes along drives the engine, under a lock: who posts sends the packets himself, who
 * polls takes what has come in, and a daemon thread does both when nobody else does. While others
 * poll it keeps out of their way. Completions and events are told by whichever thread drives, with
 * the lock held; who is told must neither wait nor call the port. Nothing here blocks but {@link
 * #control}, {@link #join}, {@link #leave} and {@link #close}, and those for no longer than a
 * round.
 *
 * <p>Safe for use by several threads. After {@link #close} nothing is sent or received any more.
 */
public final class Port implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Port.class);

    /** How many packets a round takes and sends at most, so that others get the lock. */
    private static final int ROUND = 128;

    /** How many rounds a caller gives to sending before he leaves the rest to the thread. */
    private static final int ROUNDS_OF_CALLER = 4;

    /** A flood of packets must not keep timers from expiring. */
    private static final long TIMERS_AT_LEAST_NANOS = 10_000_000;

    /** As many polls and the last no longer ago mean that somebody goes on polling. */
    private static final int POLLS = 4;

    private static final long RECENTLY_NANOS = 250_000;

    /** How long the thread keeps out of the way before it looks again; more with each time. */
    private static final long ASIDE_NANOS = 50_000;

    private static final long ASIDE_AT_MOST_NANOS = 250_000;

    /** What fails each time must not fill the log at full speed. */
    private static final long AFTER_FAILURE_NANOS = 100_000_000;

    private final Address address;
    private final LocalInterface on;
    private final int socketBuffer;
    private final MemoryRegistry memory;
    private final Engine engine;
    private final SystemCalls calls = new SystemCalls();
    private final UdpSocket socket;
    private final PacketTransmitter outgoing;
    private final PacketReceiver incoming;
    private final Readiness readiness;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final long start = System.nanoTime();

    private volatile boolean closed;
    private volatile boolean aside;
    private volatile boolean attended;

    // The rest under the lock.

    /** The first is the port's own, the others are of groups. Never changed, but replaced. */
    private UdpSocket[] sockets;

    private final Map<Address, Integer> members = new HashMap<>();

    /** Whether the engine has more to send than a round takes. */
    private boolean unfinished;

    /** When the thread will look by itself. */
    private long threadWakesAt = Long.MIN_VALUE;

    private long timersExpired;

    /** How many polls there were since somebody was to be woken. */
    private int polls;

    private long lastPoll;
    private long completionsSeen;

    /** Whether acknowledgements wait for what the one who polls will post. */
    private boolean deferred;

    private Port(PortOptions options) throws FabricException {
        address = options.address();
        on = LocalInterface.of(address);
        socketBuffer = options.socketBuffer();
        memory = new MemoryRegistry(options.random());
        socket = UdpSocket.at(address, on, options.socketBuffer(), calls);
        try {
            readiness = new Readiness();
        } catch (FabricException e) {
            socket.close();
            throw e;
        }
        sockets = new UdpSocket[] {socket};
        outgoing =
                new PacketTransmitter(socket, on.isLoopback(), on.index(), calls, Arena.ofAuto());
        incoming = new PacketReceiver(on.index(), Arena.ofAuto());
        engine =
                new Engine(
                        outgoing,
                        memory,
                        // The peer's buffer is not known; that it is as large, the best guess.
                        options.engine().withPathBytes(socket.receiveBuffer() / 4 * 3L),
                        options.random());
        thread = Thread.ofPlatform().daemon().name("jrdma-soft-" + address).unstarted(this::run);
    }

    /**
     * Takes RoCE's UDP port of an address.
     *
     * @throws FabricException if that is not possible; the message says who has it, where that can
     *     be told
     */
    public static Port open(PortOptions options) throws FabricException {
        return openFirst(List.of(options));
    }

    /**
     * The same at the first of several addresses that is free.
     *
     * @param candidates one at least
     * @throws FabricException if none is; the message is about the first
     */
    public static Port openFirst(List<PortOptions> candidates) throws FabricException {
        FabricException failure = null;
        for (var options : candidates) {
            try {
                return start(new Port(options));
            } catch (FabricException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure == null) {
            throw new IllegalArgumentException("no address");
        }
        if (failure.code() != Errno.EADDRINUSE) {
            throw failure;
        }
        // Now and not with each: it looks at the descriptors of all processes.
        var owner = PortOwner.describe(candidates.getFirst().address());
        throw new FabricException(failure.getMessage() + " " + owner, failure.code(), failure);
    }

    private static Port start(Port port) {
        // Before the thread starts: the errno of its calls would be overwritten.
        LOG.debug(
                "Port {} on {}: path MTU {}, {} bytes of receive buffer",
                port.address,
                port.on.name(),
                port.pathMtu(),
                port.socket.receiveBuffer());
        port.thread.start();
        return port;
    }

    public Address address() {
        return address;
    }

    /** The greatest path MTU that fits the interface: 256 to 4096. */
    public int pathMtu() {
        return on.pathMtu();
    }

    /** The number of the interface that the address belongs to. */
    public int interfaceIndex() {
        return on.index();
    }

    /** The name of the interface that the address belongs to. */
    public String interfaceName() {
        return on.name();
    }

    public MemoryRegistry memory() {
        return memory;
    }

    /**
     * Acts on the engine, which nobody else does meanwhile, and sends what that made sendable.
     *
     * @throws IllegalStateException if the port is closed
     */
    public <T> T control(Function<Engine, T> action) {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("The port of " + address + " is closed");
            }
            engine.advance(now());
            if (deferred && lock.getHoldCount() == 1) {
                send(); // what ends a queue pair would take its acknowledgements along
            }
            var result = action.apply(engine);
            if (lock.getHoldCount() == 1) {
                send();
            }
            return result;
        } finally {
            lock.unlock();
            answer();
        }
    }

    /** Does something once, so much later. For those who are told of a completion, meanwhile. */
    public void alarm(long nanos, Runnable action) {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("Only who is told of a completion may set an alarm");
        }
        engine.alarm(nanos, action);
    }

    /**
     * Tells that work was posted to a queue pair. Its packets are sent before this returns, or by
     * the thread that drives the engine meanwhile.
     */
    public void ring(QueuePair queuePair) {
        engine.doorbell(queuePair);
        answer();
    }

    /** Takes what has come in, unless another thread is at it. For those who poll. */
    public void progress() {
        if (tryLock()) {
            try {
                polls = attended ? 1 : Math.min(polls + 1, POLLS);
                attended = false;
                round();
                lastPoll = engine.now();
            } finally {
                lock.unlock();
            }
            answer();
        }
    }

    /**
     * Tells that the caller goes to wait for a completion to wake it: the thread takes over at once
     * instead of after a while.
     */
    public void attend() {
        attended = true;
        if (aside) {
            LockSupport.unpark(thread);
        }
    }

    /** Injects network faults into the packets sent from now on. */
    public void faults(NetworkFaults faults) {
        control(_ -> {
            outgoing.faults(faults);
            return true;
        });
    }

    /** What was done to packets until now, also after {@link #close}. */
    public NetworkFaultCounts faultCounts() {
        lock.lock();
        try {
            return outgoing.faultCounts();
        } finally {
            lock.unlock();
            answer();
        }
    }

    /** Shows all packets to {@code listener}; null for none. */
    public void listen(@Nullable PacketListener listener) {
        control(_ -> {
            var tracer = listener == null ? null : new PacketTracer(listener);
            outgoing.tracer(tracer);
            incoming.tracer(tracer);
            return true;
        });
    }

    /** While the link is down, nothing goes out or comes in. Time goes on. */
    public void linkUp(boolean up) {
        control(_ -> {
            outgoing.up(up);
            incoming.up(up);
            return true;
        });
    }

    /** Receives what is sent to a group, until it is left as often as it was joined. */
    public void join(Address group) throws FabricException {
        lock.lock();
        try {
            if (members.merge(group, 1, Integer::sum) == 1 && !closed) {
                try {
                    var added = UdpSocket.ofGroup(group, on, socketBuffer, calls);
                    var next = Arrays.copyOf(sockets, sockets.length + 1);
                    next[sockets.length] = added;
                    sockets = next;
                } catch (FabricException e) {
                    members.remove(group);
                    throw e;
                }
                readiness.wake();
            }
        } finally {
            lock.unlock();
            answer();
        }
    }

    /** Takes back one {@link #join}. */
    public void leave(Address group) {
        lock.lock();
        try {
            if (members.computeIfPresent(group, (_, count) -> count == 1 ? null : count - 1) == null
                    && !closed) {
                sockets =
                        Arrays.stream(sockets)
                                .filter(one -> one == socket || !leaves(one, group))
                                .toArray(UdpSocket[]::new);
                readiness.wake();
            }
        } finally {
            lock.unlock();
            answer();
        }
    }

    private static boolean leaves(UdpSocket socket, Address group) {
        var leaves = socket.address().equals(group);
        if (leaves) {
            socket.close();
        }
        return leaves;
    }

    /** Waits for the thread to end, and gives the address back. Twice is as good as once. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        lock.lock();
        try {
            if (sockets.length > 0) {
                readiness.wake();
            }
        } finally {
            lock.unlock();
        }
        var interrupted = false;
        while (thread != Thread.currentThread() && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        lock.lock();
        try {
            if (sockets.length > 0) {
                for (var one : sockets) {
                    one.close();
                }
                sockets = new UdpSocket[0];
                readiness.close();
                LOG.debug("Port {} closed", address);
            }
        } finally {
            lock.unlock();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private long now() {
        return System.nanoTime() - start;
    }

    /** False also for a thread that has it already: it is in a callback, and will come back. */
    private boolean tryLock() {
        return !closed && !lock.isHeldByCurrentThread() && lock.tryLock();
    }

    /**
     * Answers doorbells. Everyone who has unlocked calls this: who rings while another holds the
     * lock relies on it.
     */
    private void answer() {
        while (engine.isRung() && tryLock()) {
            try {
                engine.advance(now());
                send();
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Takes what has come in, and does what is to be done.
     *
     * <p>What completes under the eyes of one who polls is answered with what he posts in return,
     * at the latest when he polls again: one system call less for each message, and his peer takes
     * both at once. Should he do neither, the thread does, which then is aside and soon looks.
     */
    private void round() {
        if (closed) {
            return;
        }
        var now = now();
        engine.advance(now);
        var drained = true;
        for (var one : sockets) {
            drained &= incoming.receive(one, engine, ROUND);
        }
        if (drained || now - timersExpired > TIMERS_AT_LEAST_NANOS) {
            engine.expireTimers();
            timersExpired = now;
        }
        var completions = engine.completions();
        deferred = completions != completionsSeen && !deferred && aside && !attended;
        completionsSeen = completions;
        if (!deferred) {
            send();
        }
    }

    private void send() {
        if (closed) {
            return;
        }
        deferred = false;
        outgoing.release(engine.now());
        var rounds = 0;
        do {
            outgoing.allow(ROUND);
            unfinished = !engine.transmit();
            outgoing.flush();
            rounds++;
        } while (unfinished && !outgoing.isBlocked() && rounds < ROUNDS_OF_CALLER);
        if (nextDeadline() < threadWakesAt && Thread.currentThread() != thread) {
            threadWakesAt = Long.MIN_VALUE;
            readiness.wake();
        }
    }

    /** When there is something to do next though nothing comes in and nobody posts. */
    private long nextDeadline() {
        if (unfinished || outgoing.isBlocked()) {
            return engine.now();
        }
        return Math.min(engine.nextDeadline(), outgoing.nextDeadline());
    }

    private void run() {
        var pause = ASIDE_NANOS;
        while (!closed) {
            try {
                pause = drive(pause);
            } catch (Throwable e) {
                tell(e);
                LockSupport.parkNanos(this, AFTER_FAILURE_NANOS);
            }
        }
    }

    /** Goes on in any case: those who wait for completions have nobody else. */
    private void tell(Throwable failure) {
        try {
            LOG.error("The thread of port {} failed, and goes on", address, failure);
        } catch (OutOfMemoryError untold) {
            // What there is no room to tell is not told.
        }
    }

    /**
     * Drives the engine once, unless others do, and waits.
     *
     * @param pause how long to keep out of the way of those who poll
     * @return the same for the next time
     */
    private long drive(long pause) {
        if (!tryLock()) {
            stepAside(ASIDE_NANOS);
            return pause;
        }
        boolean othersPoll;
        boolean blocked;
        long wait;
        UdpSocket[] watched;
        try {
            othersPoll = doOthersPoll();
            if (othersPoll) {
                threadWakesAt = Long.MIN_VALUE; // it looks again soon
                wait = 0;
            } else {
                round();
                threadWakesAt = nextDeadline();
                wait = threadWakesAt == Long.MAX_VALUE ? threadWakesAt : threadWakesAt - now();
            }
            blocked = outgoing.isBlocked();
            watched = sockets;
        } finally {
            lock.unlock();
        }
        answer();
        if (othersPoll) {
            stepAside(pause);
            return Math.min(2 * pause, ASIDE_AT_MOST_NANOS);
        }
        if (blocked) {
            readiness.await(watched, true, ASIDE_AT_MOST_NANOS);
        } else if (wait > 0) {
            readiness.await(watched, false, wait);
        }
        return ASIDE_NANOS;
    }

    private boolean doOthersPoll() {
        return polls == POLLS && !attended && now() - lastPoll < RECENTLY_NANOS;
    }

    private void stepAside(long nanos) {
        aside = true;
        LockSupport.parkNanos(this, nanos);
        aside = false;
    }
}
