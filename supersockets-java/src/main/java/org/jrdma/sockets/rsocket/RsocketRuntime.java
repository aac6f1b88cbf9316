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
import org.jrdma.ffi.doctor.MachineFiles;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.internal.InternetFamily;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The librdmacm library of this process, with the threads that poll its rsockets and make blocking
 * calls. Exists until the JVM exits. Safe for use by multiple threads.
 */
public final class RsocketRuntime {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketRuntime.class);

    /**
     * Matches the file name of the library, and captures the version of rdma-core, for example 44
     * in {@code librdmacm.so.1.3.44.0}.
     */
    private static final Pattern VERSION = Pattern.compile("\\.so\\.1\\.\\d+\\.(\\d+)\\.");

    /** The first version of rdma-core whose service threads continue to work when a table grows. */
    private static final int SAFE_GROWTH_VERSION = 53;

    /**
     * The system property with the number of connections for which the connection table has space
     * from the beginning.
     */
    private static final String CONNECTIONS_PROPERTY = "jrdma.sockets.rsocket.connections";

    private static final int DEFAULT_CONNECTIONS = 256;
    private static final int LISTENER_GROWTHS = 16;

    /** The number of entries by which a table grows. */
    private static final int GROWTH = 4;

    /**
     * The maximum number of connection attempts for each growth of the table. More than one attempt
     * may be needed, because an attempt that a local device refuses immediately does not enlarge
     * the table.
     */
    private static final int MAX_TRIES_PER_GROWTH = 20;

    private static final int CLOSERS = 16;
    private static final int UNUSED_PORT = 1;

    /**
     * The backlog of each listening rsocket; the kernel allows no larger one. A client that exceeds
     * the backlog gets no response, and repeats its request after four seconds. The accept queue of
     * {@link RsocketListener} has its own limit.
     */
    private static final int LISTEN_BACKLOG = 1024;

    private final RsocketCalls calls;
    private final RdmaAddresses addresses;
    private final RsocketPoller poller;
    private final Semaphore connections;
    private final Semaphore listeners;
    private final ActiveAccepts activeAccepts = new ActiveAccepts();
    private final ConnectResponseDeadlines awaited =
            new ConnectResponseDeadlines(BypassConnector.TIMEOUT);

    /**
     * Runs connection attempts, and closes connections that the program has not accepted. Both
     * operations may block.
     */
    private final ExecutorService threads =
            Executors.newCachedThreadPool(
                    Thread.ofPlatform().daemon().name("jrdma-rsocket-connect-", 0).factory());

    /**
     * Runs shutdowns and closes of streams, which block until the device of the peer has received
     * the sent bytes.
     */
    private final ThreadPoolExecutor closers =
            new ThreadPoolExecutor(
                    CLOSERS,
                    CLOSERS,
                    10,
                    TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(),
                    Thread.ofPlatform().daemon().name("jrdma-rsocket-end-", 0).factory());

    private RsocketRuntime(RsocketCalls calls, RdmaAddresses addresses) throws FabricException {
        this.calls = calls;
        this.addresses = addresses;
        closers.allowCoreThreadTimeOut(true);
        var first = addresses.all().stream().findFirst();
        var growsSafely = first.isEmpty() || growsSafely(calls.toString());
        connections = new Semaphore(growsSafely ? Integer.MAX_VALUE : growConnections(first.get()));
        listeners = new Semaphore(growsSafely ? Integer.MAX_VALUE : growListeners(first.get()));
        poller = RsocketPoller.start(descriptors -> calls.poll(descriptors, true));
    }

    /**
     * Opens librdmacm for the devices of this machine. May block briefly.
     *
     * @throws FabricException if the library or a device is missing, or the process may not access
     *     the device
     */
    public static RsocketRuntime open() throws FabricException {
        var addresses = new RdmaAddresses(MachineFiles.THIS);
        var whyNone = addresses.whyNone();
        if (whyNone.isPresent()) {
            throw new FabricException(whyNone.get());
        }
        var calls = new RsocketCalls(NativeLibrary.open(RsocketCalls.NAME));
        calls.close(check("rsocket", calls.socket(InternetFamily.IPV4)));
        var runtime = new RsocketRuntime(calls, addresses);
        LOG.info(
                "Using rsockets at {} with {}",
                addresses.all().stream().map(InetAddress::getHostAddress).toList(),
                calls);
        return runtime;
    }

    static boolean growsSafely(String library) {
        var version = VERSION.matcher(library);
        return version.find() && Integer.parseInt(version.group(1)) >= SAFE_GROWTH_VERSION;
    }

    /**
     * Enlarges the connection table of a library before version 53, by connection attempts to an
     * unused port.
     *
     * <p>In such a library, a service thread continues to read its table at the old address after
     * the table has grown. Connections are then lost, or the service thread waits forever for a
     * connection that has no event, and blocks all threads that connect or close. The table grows
     * by {@link #GROWTH} entries each time the service thread starts, and the thread starts when
     * there is a first connection. This method therefore closes each connection before it opens the
     * next one.
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
     * Enlarges the listener table in the same way as the connection table, by opening and closing
     * listeners.
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
     * Listens at an address. For the wildcard address, listens at all addresses of RDMA devices.
     * May block briefly.
     *
     * @throws FabricException if no RDMA device has the address; with the code EADDRINUSE if
     *     another rsocket is listening at the address and port
     */
    public BypassListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException {
        var numbers = new ArrayList<Integer>();
        RsocketListener listener;
        try {
            for (var each : addressesOf(address)) {
                numbers.add(listenAt(each, receiveBuffer));
            }
            listener = new RsocketListener(this, address, numbers, backlog);
        } catch (Throwable e) {
            numbers.forEach(this::closeListener);
            throw e;
        }
        try {
            listener.open();
            return listener;
        } catch (Throwable e) {
            listener.close();
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
        var number = -1;
        var listening = false;
        try {
            number = check("rsocket", calls.socket(RsocketCalls.familyOf(address.getAddress())));
            // a thread may still accept for a closed listener that had the same number
            activeAccepts.awaitNone(number);
            prepare(number, receiveBuffer);
            check("rbind", calls.bind(number, address));
            check("rlisten", calls.listen(number, LISTEN_BACKLOG));
            listening = true;
            return number;
        } catch (FabricException e) {
            throw new FabricException(
                    "at %s: %s".formatted(address.getAddress().getHostAddress(), e.getMessage()),
                    e.code() == Errno.EADDRNOTAVAIL ? Errno.EADDRINUSE : e.code(),
                    e);
        } finally {
            if (!listening) {
                if (number >= 0) {
                    calls.close(number);
                }
                listeners.release();
            }
        }
    }

    /**
     * Opens a non-blocking rsocket for a connection, and reserves an entry of the connection table.
     *
     * @throws FabricException if the connection table is full, or the rsocket cannot be opened
     */
    int socket(InternetFamily family, int receiveBuffer) throws FabricException {
        if (!connections.tryAcquire()) {
            throw new FabricException(
                    "%s cannot hold more connections safely; install version %d or later, or raise -D%s"
                            .formatted(calls, SAFE_GROWTH_VERSION, CONNECTIONS_PROPERTY));
        }
        var number = -1;
        var opened = false;
        try {
            number = check("rsocket", calls.socket(family));
            check("rfcntl", calls.setNonBlocking(number));
            prepare(number, receiveBuffer);
            opened = true;
            return number;
        } finally {
            if (!opened) {
                if (number >= 0) {
                    calls.close(number);
                }
                connections.release();
            }
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
     * @param listener the number of the listening rsocket
     * @param isOpen returns true if the listener is open. It is called after the wait, because the
     *     listener may have been closed and another rsocket may have its number.
     * @return the number of the rsocket of the connection; 0 or negative if no connection was
     *     accepted
     */
    int accept(int listener, BooleanSupplier isOpen) {
        connections.acquireUninterruptibly();
        var number = 0;
        try {
            if (activeAccepts.enter(listener, isOpen)) {
                try {
                    number = calls.accept(listener);
                } finally {
                    activeAccepts.leave(listener);
                }
            }
        } finally {
            if (number <= 0) {
                connections.release();
            }
        }
        if (number > 0) {
            calls.setNonBlocking(number);
        }
        return number;
    }

    /**
     * Closes an rsocket that {@link #socket} or {@link #accept} has returned, and releases its
     * entry of the connection table. Blocks until the peer has received the sent bytes.
     */
    void close(int number) {
        calls.close(number);
        connections.release();
    }

    /**
     * Closes a listening rsocket and the connections that were not accepted. If a thread waits in
     * {@code raccept}, that call returns 0 or a negative errno.
     */
    void closeListener(int listener) {
        try {
            calls.setNonBlocking(listener);
            for (var next = calls.accept(listener); next > 0; next = calls.accept(listener)) {
                closeUnaccepted(next);
            }
        } finally {
            calls.close(listener);
            listeners.release();
        }
    }

    /**
     * Closes a connection on another thread, because the close blocks if the client has given up
     * and does not respond. If the connection table is full, closes the connection on this thread.
     */
    private void closeUnaccepted(int number) {
        if (connections.tryAcquire()) {
            threads.execute(() -> close(number));
        } else {
            calls.close(number);
        }
    }

    /**
     * Returns {@code result} unless it is a negative errno.
     *
     * @throws FabricException if {@code result} is a negative errno
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

    ConnectResponseDeadlines awaited() {
        return awaited;
    }

    Executor threads() {
        return threads;
    }

    Executor closers() {
        return closers;
    }
}
