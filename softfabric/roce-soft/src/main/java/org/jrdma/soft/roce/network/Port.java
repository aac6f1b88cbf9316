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
 * other thread does. While other threads poll, the daemon thread stays idle. Completions and events
 * are reported by the thread that drives the engine, with the lock held; their receivers must
 * neither block nor call the port. Only {@link #control}, {@link #join}, {@link #leave} and {@link
 * #close} block, for at most the time of a round.
 *
 * <p>Safe for use by multiple threads. Nothing is sent or received after {@link #close}.
 */
public final class Port implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Port.class);

    /**
     * A thread that has polled this many times, most recently a short time ago, is assumed to poll
     * continuously.
     */
    private static final int POLLS = 4;

    private static final long RECENT_POLL_NANOS = 250_000;

    /**
     * The time that the thread of the port waits while other threads poll. It doubles up to a
     * limit.
     */
    private static final long YIELD_NANOS = 50_000;

    private static final long MAX_YIELD_NANOS = 250_000;

    /** The pause after a failure, so that a repeated failure does not fill the log. */
    private static final long FAILURE_PAUSE_NANOS = 100_000_000;

    private final Address address;
    private final LocalInterface localInterface;
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
    private volatile boolean yielding;
    private volatile boolean callerWaiting;

    // Guarded by the lock:

    /** When the thread wakes up by itself. */
    private long threadWakesAt = Long.MIN_VALUE;

    /** The number of polls since a caller last waited, up to {@link #POLLS}. */
    private int polls;

    private long lastPoll;

    private Port(PortOptions options) throws FabricException {
        address = options.address();
        localInterface = LocalInterface.of(address);
        memory = new MemoryRegistry(options.random());
        var calls = new SystemCalls();
        var socket = UdpSocket.at(address, localInterface, options.socketBuffer(), calls);
        try {
            readiness = new Readiness();
        } catch (FabricException e) {
            socket.close();
            throw e;
        }
        sockets = new PortSockets(socket, localInterface, options.socketBuffer(), calls);
        outgoing =
                new PacketTransmitter(
                        socket,
                        localInterface.isLoopback(),
                        localInterface.index(),
                        calls,
                        Arena.ofAuto());
        incoming = new PacketReceiver(localInterface.index(), Arena.ofAuto());
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
                localInterface.name(),
                localInterface.pathMtu(),
                socket.receiveBuffer());
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("jrdma-soft-" + address)
                        .unstarted(this::runThread);
    }

    /**
     * Opens the RoCE UDP port at an address.
     *
     * @throws FabricException if the port cannot be opened; the message names the process that
     *     holds the port, if it is known
     */
    public static Port open(PortOptions options) throws FabricException {
        return openFirst(List.of(options));
    }

    /**
     * Opens the RoCE UDP port at the first of several addresses that is free.
     *
     * @param candidates the options to try, at least one
     * @throws FabricException if none can be opened; the message describes the failure of the first
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
            throw new IllegalArgumentException(
                    "Cannot open a port: no candidate address was given.");
        }
        if (failure.code() != Errno.EADDRINUSE) {
            throw failure;
        }
        // Looked up only once, because it reads the descriptors of all processes.
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

    /** Returns the maximum path MTU that fits the interface: 256 to 4096. */
    public int pathMtu() {
        return localInterface.pathMtu();
    }

    /** Returns the index of the interface that the address belongs to. */
    public int interfaceIndex() {
        return localInterface.index();
    }

    /** Returns the name of the interface that the address belongs to. */
    public String interfaceName() {
        return localInterface.name();
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
                throw new IllegalStateException("The port at " + address + " is closed.");
            }
            driver.advance();
            if (driver.isSendingDeferred() && lock.getHoldCount() == 1) {
                send(); // the action may destroy a queue pair, and with it its acknowledgements
            }
            var result = action.apply(engine);
            if (lock.getHoldCount() == 1) {
                send();
            }
            return result;
        } finally {
            lock.unlock();
            processDoorbells();
        }
    }

    /** Runs an action like {@link #control}, without a result. */
    public void run(Consumer<Engine> action) {
        control(engine -> {
            action.accept(engine);
            return true;
        });
    }

    /**
     * Runs an action once after a delay. May be called only by a receiver of a completion, during
     * its call.
     */
    public void alarm(long nanos, Runnable action) {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalStateException(
                    "An alarm can be set only while a completion is being reported.");
        }
        engine.alarm(nanos, action);
    }

    /**
     * Rings the doorbell of a queue pair to which work was posted. This thread sends its packets,
     * or the thread that holds the lock does.
     */
    public void ring(QueuePair queuePair) {
        engine.doorbell(queuePair);
        processDoorbells();
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
            processDoorbells();
        }
    }

    /**
     * Announces that the caller will wait for a completion event, so that the thread of this port
     * takes over at once.
     */
    public void callerWaits() {
        callerWaiting = true;
        if (yielding) {
            LockSupport.unpark(thread);
        }
    }

    /** Injects network faults into the packets sent from now on. */
    public void faults(NetworkFaults faults) {
        run(_ -> outgoing.faults(faults));
    }

    /** Returns the network faults injected so far. May be called after {@link #close}. */
    public NetworkFaultCounts faultCounts() {
        lock.lock();
        try {
            return outgoing.faultCounts();
        } finally {
            lock.unlock();
            processDoorbells();
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

    /**
     * Receives packets sent to a multicast group, until {@link #leave} was called as often as this
     * method.
     */
    public void join(Address group) throws FabricException {
        lock.lock();
        try {
            if (sockets.join(group)) {
                readiness.wake();
            }
        } finally {
            lock.unlock();
            processDoorbells();
        }
    }

    /** Reverts one {@link #join}. */
    public void leave(Address group) {
        lock.lock();
        try {
            if (sockets.leave(group)) {
                readiness.wake();
            }
        } finally {
            lock.unlock();
            processDoorbells();
        }
    }

    /** Waits for the thread to end, and closes the sockets. Closing again has no effect. */
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

    /**
     * Acquires the lock if it is free. Also returns false if this thread holds it, because the
     * thread is in a callback.
     */
    private boolean tryLock() {
        return !closed && !lock.isHeldByCurrentThread() && lock.tryLock();
    }

    /**
     * Processes doorbells. Each thread calls this after unlocking, because a thread that rang while
     * another thread held the lock relies on it.
     */
    private void processDoorbells() {
        while (engine.hasRungDoorbells() && tryLock()) {
            try {
                driver.advance();
                send();
            } finally {
                lock.unlock();
            }
        }
    }

    private void round() {
        if (!closed && driver.receive(sockets, yielding && !callerWaiting)) {
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
        var pause = YIELD_NANOS;
        while (!closed) {
            try {
                pause = drive(pause);
            } catch (Throwable e) {
                logFailure(e);
                LockSupport.parkNanos(this, FAILURE_PAUSE_NANOS);
            }
        }
    }

    /**
     * Never throws, because the thread must continue: other threads wait for the completions that
     * it reports.
     */
    private void logFailure(Throwable failure) {
        try {
            LOG.error("The thread of port {} failed and continues", address, failure);
        } catch (OutOfMemoryError ignored) {
            // there is no memory to log the failure
        }
    }

    /**
     * Drives the engine once, unless other threads do, and waits.
     *
     * @param pause the time to wait while other threads poll
     * @return the pause for the next call
     */
    private long drive(long pause) {
        if (!tryLock()) {
            yieldToPollers(YIELD_NANOS);
            return pause;
        }
        boolean othersPoll;
        boolean blocked;
        long wait;
        UdpSocket[] watched;
        try {
            othersPoll = doOthersPoll();
            if (othersPoll) {
                threadWakesAt = Long.MIN_VALUE; // the thread checks again soon
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
        processDoorbells();
        if (othersPoll) {
            yieldToPollers(pause);
            return Math.min(2 * pause, MAX_YIELD_NANOS);
        }
        if (blocked) {
            readiness.await(watched, true, MAX_YIELD_NANOS);
        } else if (wait > 0) {
            readiness.await(watched, false, wait);
        }
        return YIELD_NANOS;
    }

    private boolean doOthersPoll() {
        return polls == POLLS && !callerWaiting && driver.now() - lastPoll < RECENT_POLL_NANOS;
    }

    private void yieldToPollers(long nanos) {
        yielding = true;
        LockSupport.parkNanos(this, nanos);
        yielding = false;
    }
}
