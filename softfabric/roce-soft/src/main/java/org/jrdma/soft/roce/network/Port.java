package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
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
 * An engine on the network: receives the packets for one address of this machine, and sends the
 * packets of the engine.
 *
 * <p>The engine has no dedicated thread: posting and polling threads drive it while holding a lock.
 * A posting thread transmits, a polling thread receives, and a daemon thread does both when no
 * other thread does. While other threads poll, the daemon thread stays aside. Completions and
 * events are reported by the thread that drives the engine, with the lock held; their receivers
 * must neither wait nor call the port. Only {@link #control}, {@link #join}, {@link #leave} and
 * {@link #close} block, for the time of a round at most.
 *
 * <p>Safe for use by multiple threads. Nothing is sent or received after {@link #close}.
 */
public final class Port implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Port.class);

    /** So many polls, of which the last is recent, mean that a thread polls continuously. */
    private static final int POLLS = 4;

    private static final long RECENTLY_NANOS = 250_000;

    /** How long the thread stays aside before it looks again. The time doubles up to a limit. */
    private static final long ASIDE_NANOS = 50_000;

    private static final long ASIDE_AT_MOST_NANOS = 250_000;

    /** The pause after a failure, so that a repeated failure does not fill the log. */
    private static final long AFTER_FAILURE_NANOS = 100_000_000;

    private final Address address;
    private final LocalInterface on;
    private final MemoryRegistry memory;
    private final Engine engine;
    private final PortSockets sockets;
    private final EngineDriver driver;
    private final PacketTransmitter outgoing;
    private final PacketReceiver incoming;
    private final Readiness readiness;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();

    private volatile boolean closed;
    private volatile boolean aside;
    private volatile boolean callerWaiting;

    // Guarded by the lock:

    /** When the thread wakes up by itself. */
    private long threadWakesAt = Long.MIN_VALUE;

    /** The number of polls since a caller last waited, up to {@link #POLLS}. */
    private int polls;

    private long lastPoll;

    private Port(PortOptions options) throws FabricException {
        address = options.address();
        on = LocalInterface.of(address);
        memory = new MemoryRegistry(options.random());
        var calls = new SystemCalls();
        var socket = UdpSocket.at(address, on, options.socketBuffer(), calls);
        try {
            readiness = new Readiness();
        } catch (FabricException e) {
            socket.close();
            throw e;
        }
        sockets = new PortSockets(socket, on, options.socketBuffer(), calls);
        outgoing =
                new PacketTransmitter(socket, on.isLoopback(), on.index(), calls, Arena.ofAuto());
        incoming = new PacketReceiver(on.index(), Arena.ofAuto());
        engine =
                new Engine(
                        outgoing,
                        memory,
                        // The receive buffer of the peer is unknown and assumed to be equal.
                        options.engine().withPathBytes(socket.receiveBuffer() / 4 * 3L),
                        options.random());
        driver = new EngineDriver(engine, outgoing, incoming);
        LOG.debug(
                "Port {} on {}: path MTU {}, {} bytes of receive buffer",
                address,
                on.name(),
                on.pathMtu(),
                socket.receiveBuffer());
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("jrdma-soft-" + address)
                        .unstarted(this::runThread);
    }

    /**
     * Opens the UDP port of RoCE at an address.
     *
     * @throws FabricException if that fails; the message names the process that holds the port, if
     *     it is known
     */
    public static Port open(PortOptions options) throws FabricException {
        return openFirst(List.of(options));
    }

    /**
     * Opens the UDP port of RoCE at the first of several addresses that is free.
     *
     * @param candidates one at least
     * @throws FabricException if none is free; the message is about the first
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
        // Looked up once and not for each candidate, because it reads the descriptors of all
        // processes.
        var owner = PortOwner.describe(candidates.getFirst().address());
        throw new FabricException(failure.getMessage() + " " + owner, failure.code(), failure);
    }

    private static Port start(Port port) {
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
     * Runs an action on the engine under the lock, and then sends the packets that have become
     * ready.
     *
     * @throws IllegalStateException if the port is closed
     */
    public <T> T control(Function<Engine, T> action) {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("The port of " + address + " is closed");
            }
            driver.advance();
            if (driver.isSendingDeferred() && lock.getHoldCount() == 1) {
                send(); // destroying a queue pair would drop its acknowledgements
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

    /** As {@link #control}, without a result. */
    public void run(Consumer<Engine> action) {
        control(engine -> {
            action.accept(engine);
            return true;
        });
    }

    /** Runs an action once after a delay. For receivers of a completion, during the call only. */
    public void alarm(long nanos, Runnable action) {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalStateException(
                    "An alarm can be set only while a completion is being reported");
        }
        engine.alarm(nanos, action);
    }

    /**
     * Rings the doorbell of a queue pair to which work was posted. This thread sends its packets,
     * or the thread that holds the lock does.
     */
    public void ring(QueuePair queuePair) {
        engine.doorbell(queuePair);
        answer();
    }

    /** Receives arrived packets, unless another thread holds the lock. For polling threads. */
    public void progress() {
        if (tryLock()) {
            try {
                polls = callerWaiting ? 1 : Math.min(polls + 1, POLLS);
                callerWaiting = false;
                round();
                lastPoll = engine.now();
            } finally {
                lock.unlock();
            }
            answer();
        }
    }

    /**
     * Notes that the caller is about to wait for a completion event: the thread of this port takes
     * over at once.
     */
    public void callerWaits() {
        callerWaiting = true;
        if (aside) {
            LockSupport.unpark(thread);
        }
    }

    /** Injects network faults into the packets sent from now on. */
    public void faults(NetworkFaults faults) {
        run(_ -> outgoing.faults(faults));
    }

    /** The network faults injected so far. May be called after {@link #close}. */
    public NetworkFaultCounts faultCounts() {
        lock.lock();
        try {
            return outgoing.faultCounts();
        } finally {
            lock.unlock();
            answer();
        }
    }

    /** Sets the listener that sees all packets; null for none. */
    public void listen(@Nullable PacketListener listener) {
        run(_ -> {
            var tracer = listener == null ? null : new PacketTracer(listener);
            outgoing.tracer(tracer);
            incoming.tracer(tracer);
        });
    }

    /** Sets the link state. While the link is down, no packet is sent or received; timers run. */
    public void linkUp(boolean up) {
        run(_ -> {
            outgoing.up(up);
            incoming.up(up);
        });
    }

    /** Receives packets sent to a group, until it is left as often as it was joined. */
    public void join(Address group) throws FabricException {
        lock.lock();
        try {
            if (sockets.join(group)) {
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
            if (sockets.leave(group)) {
                readiness.wake();
            }
        } finally {
            lock.unlock();
            answer();
        }
    }

    /** Waits for the thread to end, and closes the sockets. Has no effect when called again. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        lock.lock();
        try {
            if (!sockets.areClosed()) {
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
            if (!sockets.areClosed()) {
                sockets.close();
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

    /** Returns false also for a thread that holds the lock: it is in a callback. */
    private boolean tryLock() {
        return !closed && !lock.isHeldByCurrentThread() && lock.tryLock();
    }

    /**
     * Answers doorbells. Each thread calls this after unlocking, because a thread that rings while
     * another holds the lock relies on it.
     */
    private void answer() {
        while (engine.isRung() && tryLock()) {
            try {
                driver.advance();
                send();
            } finally {
                lock.unlock();
            }
        }
    }

    private void round() {
        if (!closed && driver.receive(sockets, aside && !callerWaiting)) {
            send();
        }
    }

    private void send() {
        if (closed) {
            return;
        }
        driver.send();
        if (Thread.currentThread() != thread && driver.nextDeadline() < threadWakesAt) {
            threadWakesAt = Long.MIN_VALUE;
            readiness.wake();
        }
    }

    private void runThread() {
        var pause = ASIDE_NANOS;
        while (!closed) {
            try {
                pause = drive(pause);
            } catch (Throwable e) {
                logFailure(e);
                LockSupport.parkNanos(this, AFTER_FAILURE_NANOS);
            }
        }
    }

    /** Never throws, because the thread must go on: others wait for the completions it reports. */
    private void logFailure(Throwable failure) {
        try {
            LOG.error("The thread of port {} failed and continues", address, failure);
        } catch (OutOfMemoryError unlogged) {
            // there is no memory for the message
        }
    }

    /**
     * Drives the engine once, unless other threads do, and waits.
     *
     * @param pause how long to stay aside while other threads poll
     * @return the pause for the next call
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
                threadWakesAt = Long.MIN_VALUE; // the thread looks again soon
                wait = 0;
            } else {
                round();
                threadWakesAt = driver.nextDeadline();
                wait =
                        threadWakesAt == Long.MAX_VALUE
                                ? threadWakesAt
                                : threadWakesAt - driver.now();
            }
            blocked = outgoing.isBlocked();
            watched = sockets.all();
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
        return polls == POLLS && !callerWaiting && driver.now() - lastPoll < RECENTLY_NANOS;
    }

    private void stepAside(long nanos) {
        aside = true;
        LockSupport.parkNanos(this, nanos);
        aside = false;
    }
}
