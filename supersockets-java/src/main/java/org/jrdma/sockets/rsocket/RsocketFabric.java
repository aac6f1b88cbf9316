package org.jrdma.sockets.rsocket;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.doctor.Machine;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.internal.InternetFamily;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rsockets of this process: the library, the polling thread, and threads for blocking calls.
 * Exists until the JVM exits. Safe for use by multiple threads.
 */
public final class RsocketFabric {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketFabric.class);

    /** Captures the release of rdma-core: 44 in {@code librdmacm.so.1.3.44.0}. */
    private static final Pattern VERSION = Pattern.compile("\\.so\\.1\\.\\d+\\.(\\d+)\\.");

    /** The first version whose tables can grow while its service threads use them. */
    private static final int SAFE_GROWTH_VERSION = 53;

    /** The property with the number of connections for which the table is enlarged in advance. */
    private static final String CONNECTIONS_PROPERTY = "jrdma.sockets.rsocket.connections";

    private static final int DEFAULT_CONNECTIONS = 256;
    private static final int LISTENER_GROWTHS = 16;

    /** The number of entries that each growth of a table adds. */
    private static final int GROWTH = 4;

    /**
     * The maximum number of attempts per growth. A connection that is refused immediately, as by a
     * local device, does not make the table grow.
     */
    private static final int MAX_TRIES_PER_GROWTH = 20;

    private static final int CLOSERS = 16;
    private static final int UNUSED_PORT = 1;

    /**
     * The backlog of the library's listener; the kernel allows no more. Clients beyond it get no
     * response, and repeat their request after four seconds. The accept queue of {@link
     * RsocketListener} has its own limit.
     */
    private static final int LISTEN_BACKLOG = 1024;

    private final RsocketCalls calls;
    private final RdmaAddresses addresses;
    private final RsocketPoller poller;
    private final Semaphore connections;
    private final Semaphore listeners;
    private final ActiveAccepts activeAccepts = new ActiveAccepts();
    private final PendingConnects awaited = new PendingConnects(BypassConnector.TIMEOUT);

    /** Runs connection attempts, and close calls that no thread waits for. Both can block. */
    private final ExecutorService threads =
            Executors.newCachedThreadPool(
                    Thread.ofPlatform().daemon().name("jrdma-rsocket-connect-", 0).factory());

    /** Runs closes, which wait until the peer's device has received the sent bytes. */
    private final ThreadPoolExecutor closers =
            new ThreadPoolExecutor(
                    CLOSERS,
                    CLOSERS,
                    10,
                    TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(),
                    Thread.ofPlatform().daemon().name("jrdma-rsocket-end-", 0).factory());

    private RsocketFabric(RsocketCalls calls, RdmaAddresses addresses) throws FabricException {
        this.calls = calls;
        this.addresses = addresses;
        closers.allowCoreThreadTimeOut(true);
        var first = addresses.all().stream().findFirst();
        var growsSafely = first.isEmpty() || growsSafely(calls.toString());
        connections = new Semaphore(growsSafely ? Integer.MAX_VALUE : growConnections(first.get()));
        listeners = new Semaphore(growsSafely ? Integer.MAX_VALUE : growListeners(first.get()));
        poller = RsocketPoller.start(calls);
    }

    /**
     * Opens librdmacm for the devices of this machine. May block briefly.
     *
     * @throws FabricException if the library or a device is missing, or the process may not access
     *     the device
     */
    public static RsocketFabric open() throws FabricException {
        var addresses = new RdmaAddresses(Machine.THIS);
        var whyNone = addresses.whyNone();
        if (whyNone.isPresent()) {
            throw new FabricException(whyNone.get());
        }
        var calls = new RsocketCalls(NativeLibrary.open(RsocketCalls.NAME));
        calls.close(check("rsocket", calls.socket(InternetFamily.IPV4)));
        var fabric = new RsocketFabric(calls, addresses);
        LOG.info("Using rsockets at {} with {}", addresses.all(), calls);
        return fabric;
    }

    static boolean growsSafely(String library) {
        var version = VERSION.matcher(library);
        return version.find() && Integer.parseInt(version.group(1)) >= SAFE_GROWTH_VERSION;
    }

    /**
     * Enlarges the connection table.
     *
     * <p>Before version 53, a service thread of the library continues to read its table at the old
     * address after the table has grown. Connections are then lost, or the thread waits forever for
     * a connection without events and blocks all threads that connect or close. The table grows by
     * {@link #GROWTH} entries each time the thread starts, which it does for the first connection.
     *
     * @return the number of connections that the table can hold
     */
    private int growConnections(InetAddress address) throws FabricException {
        var target = new InetSocketAddress(address, UNUSED_PORT);
        var growths =
                Math.ceilDiv(Integer.getInteger(CONNECTIONS_PROPERTY, DEFAULT_CONNECTIONS), GROWTH);
        var grown = 0;
        for (var i = 0; i < MAX_TRIES_PER_GROWTH * growths && grown < growths; i++) {
            var number = check("rsocket", calls.socket(RsocketCalls.familyOf(address)));
            calls.setNonBlocking(number);
            if (calls.connect(number, target) == -Errno.EINPROGRESS) {
                grown++;
            }
            calls.close(number);
        }
        return GROWTH * grown;
    }

    /**
     * Enlarges the listener table.
     *
     * @return the number of listeners that the table can hold
     */
    private int growListeners(InetAddress address) throws FabricException {
        for (var i = 0; i < LISTENER_GROWTHS; i++) {
            var number = check("rsocket", calls.socket(RsocketCalls.familyOf(address)));
            check("rbind", calls.bind(number, new InetSocketAddress(address, 0)));
            check("rlisten", calls.listen(number, 1));
            calls.close(number);
        }
        return GROWTH * LISTENER_GROWTHS;
    }

    /**
     * Listens at an address, or at all addresses of RDMA devices if it is the wildcard address. May
     * block briefly.
     *
     * @throws FabricException if no device has the address, or with the code EADDRINUSE if an
     *     rsocket listens there
     */
    public BypassListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException {
        var numbers = new ArrayList<Integer>();
        try {
            for (var each : addressesOf(address)) {
                numbers.add(listenAt(each, receiveBuffer));
            }
            var listener = new RsocketListener(this, address, numbers, backlog);
            listener.open();
            return listener;
        } catch (FabricException e) {
            numbers.forEach(this::closeListener);
            throw e;
        }
    }

    private List<InetSocketAddress> addressesOf(InetSocketAddress address) throws FabricException {
        var ip = address.getAddress();
        if (!ip.isAnyLocalAddress()) {
            if (!addresses.has(ip)) {
                throw new FabricException("no RDMA device has the address " + ip.getHostAddress());
            }
            return List.of(address);
        }
        var all =
                addresses.all().stream()
                        .filter(each ->
                                each instanceof Inet4Address || !(ip instanceof Inet4Address))
                        .map(each -> new InetSocketAddress(each, address.getPort()))
                        .toList();
        if (all.isEmpty()) {
            throw new FabricException("no RDMA device has an address");
        }
        return all;
    }

    private int listenAt(InetSocketAddress address, int receiveBuffer) throws FabricException {
        if (!listeners.tryAcquire()) {
            throw new FabricException(
                    "%s cannot hold more listeners safely; install version %d or later"
                            .formatted(calls, SAFE_GROWTH_VERSION));
        }
        var number = calls.socket(RsocketCalls.familyOf(address.getAddress()));
        try {
            check("rsocket", number);
            // a listener that had this number may have been closed just now
            activeAccepts.awaitNone(number);
            prepare(number, receiveBuffer);
            check("rbind", calls.bind(number, address));
            check("rlisten", calls.listen(number, LISTEN_BACKLOG));
            return number;
        } catch (FabricException e) {
            if (number >= 0) {
                calls.close(number);
            }
            listeners.release();
            throw new FabricException(
                    "at %s: %s".formatted(address.getAddress().getHostAddress(), e.getMessage()),
                    e.code() == Errno.EADDRNOTAVAIL ? Errno.EADDRINUSE : e.code(),
                    e);
        }
    }

    /** Opens a non-blocking rsocket, to be connected. */
    int socket(InternetFamily family, int receiveBuffer) throws FabricException {
        if (!connections.tryAcquire()) {
            throw new FabricException(
                    "%s cannot hold more connections safely; install version %d or later, or raise -D%s"
                            .formatted(calls, SAFE_GROWTH_VERSION, CONNECTIONS_PROPERTY));
        }
        var number = calls.socket(family);
        if (number < 0) {
            connections.release();
        }
        check("rsocket", number);
        try {
            check("rfcntl", calls.setNonBlocking(number));
            prepare(number, receiveBuffer);
            return number;
        } catch (FabricException e) {
            close(number);
            throw e;
        }
    }

    private void prepare(int number, int receiveBuffer) throws FabricException {
        calls.reuseAddress(number);
        check("rsetsockopt", calls.exposedRegions(number, DisconnectExchange.EXPOSED_REGIONS));
        if (receiveBuffer > 0) {
            calls.buffers(number, receiveBuffer);
        }
    }

    /**
     * Waits for a free entry in the connection table, and then accepts the next connection.
     *
     * @param isOpen returns true if the listener is open; checked after the wait, because the
     *     number of a closed listener may be reused
     * @return the number of the connection; 0 or negative if there is none
     */
    int accept(int listener, BooleanSupplier isOpen) {
        connections.acquireUninterruptibly();
        var number = 0;
        if (activeAccepts.enter(listener, isOpen)) {
            try {
                number = calls.accept(listener);
            } finally {
                activeAccepts.leave(listener);
            }
        }
        if (number <= 0) {
            connections.release();
        } else {
            calls.setNonBlocking(number);
        }
        return number;
    }

    /**
     * Closes an rsocket that was connected, or being connected. Blocks until the peer has received
     * the sent bytes.
     */
    void close(int number) {
        calls.close(number);
        connections.release();
    }

    /**
     * Closes a listener and the connections that were not accepted. A thread that waits in accept
     * gets 0 or an errno.
     */
    void closeListener(int listener) {
        try {
            calls.setNonBlocking(listener);
            for (var left = calls.accept(listener); left > 0; left = calls.accept(listener)) {
                closeUnaccepted(left);
            }
        } finally {
            calls.close(listener);
            listeners.release();
        }
    }

    /**
     * Closes on another thread, because a client that has given up does not respond. If the
     * connection table is full, closes on this thread.
     */
    private void closeUnaccepted(int number) {
        if (connections.tryAcquire()) {
            threads.execute(() -> close(number));
        } else {
            calls.close(number);
        }
    }

    /**
     * Returns the result of a call.
     *
     * @throws FabricException if it is a negative errno
     */
    static int check(String function, int result) throws FabricException {
        if (result < 0) {
            throw new FabricException(
                    "%s failed: %s".formatted(function, Errno.describe(-result)), -result, null);
        }
        return result;
    }

    RsocketCalls calls() {
        return calls;
    }

    RsocketPoller poller() {
        return poller;
    }

    RdmaAddresses addresses() {
        return addresses;
    }

    PendingConnects awaited() {
        return awaited;
    }

    Executor threads() {
        return threads;
    }

    Executor closers() {
        return closers;
    }
}
