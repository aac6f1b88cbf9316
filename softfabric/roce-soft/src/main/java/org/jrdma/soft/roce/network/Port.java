package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.ffi.linkage.PollingBudget;
import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.PacketListener;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A RoCE port: connects an engine to the network at one address of this machine.
 *
 * <p>Posting and polling threads drive the engine while holding a lock: posting threads transmit,
 * and polling threads receive. The daemon thread of the port transmits and receives while no other
 * thread does. Completions and events are reported with the lock held, so their receivers must
 * neither block nor call this port. {@link #ring} and {@link #progress} never wait for the lock.
 * Most other methods do, for at most the duration of a round.
 *
 * <p>Safe for use by multiple threads. After {@link #close}, nothing is sent or received.
 */
public final class Port implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Port.class);

    /** The first sleep of the daemon thread while other threads poll. Doubles with each sleep. */
    private static final long YIELD_NANOS = 50_000;

    private static final long MAX_YIELD_NANOS = 250_000;

    /** The pause after an exception in the daemon thread, to limit the rate of log messages. */
    private static final long FAILURE_PAUSE_NANOS = 100_000_000;

    private final RoceGid address;
    private final LocalInterface localInterface;
    private final MemoryRegistry memory;
    private final Engine engine;
    private final PortAndMulticastSockets sockets;
    private final EngineDriver driver;
    private final PacketTransmitter outgoing;
    private final PacketReceiver incoming;
    private final SocketPoller poller;
    private final Thread thread;

    /** Lets the daemon thread poll for READs and atomics of peers, as no other thread does. */
    private final PollingBudget polling = PollingBudget.ofThisProcess();

    private final PollingCallers callers = new PollingCallers();
    private final ReentrantLock lock = new ReentrantLock();

    private volatile boolean closed;
    private volatile boolean yielding; // The daemon thread sleeps because other threads poll.

    // The following fields are guarded by the lock.

    /**
     * The time at which the daemon thread wakes up if it is not woken earlier; {@link
     * Long#MIN_VALUE} if it is awake, or wakes up soon.
     */
    private long threadWakesAt = Long.MIN_VALUE;

    /** Creates a port. If the constructor succeeds, the port owns {@code resources}. */
    Port(PortOptions options, PortResources resources) {
        localInterface = resources.localInterface();
        poller = resources.poller();
        var calls = resources.calls();
        var socket = resources.socket();
        address = options.address();
        memory = new MemoryRegistry(options.random());
        sockets =
                new PortAndMulticastSockets(socket, localInterface, options.socketBuffer(), calls);
        outgoing =
                new PacketTransmitter(
                        socket,
                        localInterface.isLoopback(),
                        localInterface.index(),
                        calls,
                        Arena.ofAuto(),
                        resources.rings());
        incoming = new PacketReceiver(localInterface.index(), Arena.ofAuto());
        engine =
                new Engine(
                        outgoing,
                        memory,
                        // The size of the receive buffer of the peer is unknown, so it is assumed
                        // to be the same as here.
                        options.engine().pathBytes(socket.receiveBuffer() / 4 * 3L),
                        options.random());
        driver = new EngineDriver(engine, outgoing, incoming, resources.rings());
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
     * @throws FabricException if this fails; for a port in use, the message describes its owner
     */
    public static Port open(PortOptions options) throws FabricException {
        return openFirst(List.of(options));
    }

    /**
     * Opens the RoCE UDP port at the first address of a list for which this succeeds.
     *
     * @param candidates the options to try, at least one
     * @throws FabricException if no address succeeds; the message describes the failure of the
     *     first
     */
    public static Port openFirst(List<PortOptions> candidates) throws FabricException {
        return start(PortResources.openFirstPort(candidates));
    }

    private static Port start(Port port) {
        try {
            port.thread.start();
            return port;
        } catch (Throwable e) {
            port.close();
            throw e;
        }
    }

    public RoceGid address() {
        return address;
    }

    /**
     * Returns the largest path MTU whose packets fit the MTU of the interface, from 256 to 4096.
     */
    public int pathMtu() {
        return localInterface.pathMtu();
    }

    /** Returns the index of the network interface to which the address is assigned. */
    public int interfaceIndex() {
        return localInterface.index();
    }

    public String interfaceName() {
        return localInterface.name();
    }

    public MemoryRegistry memory() {
        return memory;
    }

    /**
     * Calls a function with the engine while holding the lock, then sends the packets that are
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
                // Sent first, because the action may destroy a queue pair with unsent
                // acknowledgements.
                send();
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

    /** Calls {@code action} with the engine while holding the lock, like {@link #control}. */
    public void run(Consumer<Engine> action) {
        control(engine -> {
            action.accept(engine);
            return true;
        });
    }

    /** Prepares the path for datagrams to a remote address. */
    public void preparePath(RoceGid remote) {
        run(engine -> {
            outgoing.preparePath(remote, engine.now());
            engine.updatePaths();
        });
    }

    /**
     * Runs an action once, after a delay in nanoseconds. May be called only by a receiver of
     * completions, while a completion is reported to it.
     */
    public void alarm(long nanos, Runnable action) {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalStateException(
                    "An alarm can be set only while a completion is being reported.");
        }
        engine.alarm(nanos, action);
    }

    /**
     * Rings the doorbell of a queue pair to which work was posted. The calling thread sends the
     * packets of the queue pair, unless another thread holds the lock and sends them.
     */
    public void ring(QueuePair queuePair) {
        engine.doorbell(queuePair);
        processDoorbells();
    }

    /**
     * Receives the packets that have arrived, unless another thread holds the lock. Called by
     * polling threads.
     */
    public void progress() {
        if (tryLock()) {
            try {
                callers.polled();
                round();
                callers.polledAt(engine.now());
            } finally {
                lock.unlock();
            }
            processDoorbells();
        }
    }

    /** Makes the daemon thread drive the engine, because the calling thread stops polling. */
    public void callerWaits() {
        callers.startsWaiting();
        if (yielding) {
            LockSupport.unpark(thread);
        }
    }

    public void faults(NetworkFaults faults) {
        run(_ -> outgoing.faults(faults));
    }

    /** Returns the number of network faults injected so far. May be called after {@link #close}. */
    public NetworkFaultCounts faultCounts() {
        lock.lock();
        try {
            return outgoing.faultCounts();
        } finally {
            lock.unlock();
            processDoorbells();
        }
    }

    /** Sets the listener that receives all packets that are sent or received; null removes it. */
    public void listen(@Nullable PacketListener listener) {
        run(_ -> {
            var tracer = listener == null ? null : new PacketListenerNotifier(listener);
            outgoing.tracer(tracer);
            incoming.tracer(tracer);
        });
    }

    /**
     * Sets the state of the link. While the link is down, no packet is sent or received, but timers
     * still expire.
     */
    public void linkUp(boolean up) {
        run(_ -> {
            outgoing.up(up);
            incoming.up(up);
        });
    }

    /**
     * Receives packets sent to a multicast group until {@link #leave} was called as often as this
     * method.
     */
    public void join(RoceGid group) throws FabricException {
        lock.lock();
        try {
            if (sockets.join(group)) {
                poller.wake();
            }
        } finally {
            lock.unlock();
            processDoorbells();
        }
    }

    /** Leaves a multicast group: reverts one call of {@link #join}. */
    public void leave(RoceGid group) {
        lock.lock();
        try {
            if (sockets.leave(group)) {
                poller.wake();
            }
        } finally {
            lock.unlock();
            processDoorbells();
        }
    }

    /** Ends the daemon thread and closes the sockets. Closing a closed port has no effect. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        lock.lock();
        try {
            if (!sockets.areClosed()) {
                poller.wake();
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
                driver.close();
                sockets.close();
                poller.close();
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
     * Acquires the lock and returns true, unless the port is closed or a thread (possibly this one,
     * in a callback) holds the lock.
     */
    private boolean tryLock() {
        return !closed && !lock.isHeldByCurrentThread() && lock.tryLock();
    }

    /**
     * Transmits the work whose doorbells were rung. Each thread calls this method after unlocking,
     * because a thread that rings a doorbell while the lock is held relies on the thread that holds
     * the lock.
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

    /** Receives packets, and sends packets unless the driver defers that. Requires the lock. */
    private void round() {
        if (!closed && driver.receive(sockets, yielding && !callers.isWaiting())) {
            send();
        }
    }

    /**
     * Sends packets, and wakes up the daemon thread if necessary. Requires the lock. The daemon
     * thread may call this method after it has determined how long it will wait; the wake-up then
     * ends its wait at once.
     */
    private void send() {
        if (closed) {
            return;
        }
        driver.send();
        if (driver.nextDeadline() < threadWakesAt) {
            threadWakesAt = Long.MIN_VALUE;
            poller.wake();
        }
    }

    private void runThread() {
        var pause = YIELD_NANOS;
        while (!closed) {
            try {
                pause = drive(pause);
            } catch (Throwable e) {
                FailureLog.error(LOG, "The thread of a port threw an exception and continues", e);
                LockSupport.parkNanos(this, FAILURE_PAUSE_NANOS);
            }
        }
    }

    /**
     * Drives the engine for one round, unless other threads drive it, and then waits.
     *
     * @param pause the time in nanoseconds to wait if other threads poll
     * @return the pause for the next call
     */
    private long drive(long pause) {
        if (lock.hasQueuedThreads()) {
            // Otherwise the polling of this thread could keep others from obtaining the lock.
            LockSupport.parkNanos(this, YIELD_NANOS);
        }
        if (!tryLock()) {
            LockSupport.parkNanos(this, YIELD_NANOS);
            return pause;
        }
        boolean othersPoll;
        boolean blocked;
        long wait;
        UdpSocket[] watched;
        int[] others;
        try {
            threadWakesAt = Long.MIN_VALUE;
            driver.endWait();
            othersPoll = callers.pollContinuously(driver.now());
            if (othersPoll) {
                wait = 0;
            } else {
                round();
                wait = permittedWait();
            }
            blocked = outgoing.isBlocked();
            watched = sockets.all();
            others = driver.descriptors();
        } finally {
            lock.unlock();
        }
        processDoorbells();
        if (othersPoll) {
            yieldToPollers(pause);
            return Math.min(2 * pause, MAX_YIELD_NANOS);
        }
        if (blocked) {
            poller.await(watched, others, true, MAX_YIELD_NANOS);
        } else if (wait > 0) {
            poller.await(watched, others, false, wait);
        } else {
            polling.pause();
        }
        return YIELD_NANOS;
    }

    /**
     * Returns the time in nanoseconds for which the daemon thread may wait in the kernel; 0 if it
     * must continue, and {@link Long#MAX_VALUE} for no limit. Requires the lock.
     */
    private long permittedWait() {
        var now = driver.now();
        var deadline = driver.nextDeadline();
        if (deadline <= now
                || polling.permitsPolling(driver.packetsReceived(), now)
                || !driver.prepareToWait()) {
            return 0;
        }
        threadWakesAt = deadline;
        return deadline == Long.MAX_VALUE ? deadline : deadline - now;
    }

    private void yieldToPollers(long nanos) {
        yielding = true;
        // The field was set before callerWaits() could read the field yielding.
        if (!callers.isWaiting()) {
            LockSupport.parkNanos(this, nanos);
        }
        yielding = false;
    }
}
