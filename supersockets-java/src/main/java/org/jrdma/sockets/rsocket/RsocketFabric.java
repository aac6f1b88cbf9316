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
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.doctor.Machine;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.bypass.LocalAddress;
import org.jrdma.sockets.internal.InternetFamily;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rsockets of this process: the library, the thread that polls for all, threads for calls that
 * block. Stays for as long as the JVM runs. Safe for use by several threads.
 */
public final class RsocketFabric {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketFabric.class);

    /** As in {@code librdmacm.so.1.3.44.0}. */
    private static final Pattern VERSION = Pattern.compile("\\.so\\.1\\.\\d+\\.(\\d+)\\.");

    /** The first whose service threads survive that their tables grow. */
    private static final int GROWS_SAFELY = 53;

    /** For how many connections the table is made large before it is used. */
    private static final String ROOM_PROPERTY = "jrdma.sockets.rsocket.connections";

    private static final int ROOM = 256;
    private static final int LISTENER_GROWTHS = 16;

    /** By how many the tables grow each time. */
    private static final int GROWTH = 4;

    /** For each growth: who is refused at once, as by a near device, makes nothing grow. */
    private static final int MOST_TRIES = 20;

    private static final int CLOSERS = 16;
    private static final int UNUSED_PORT = 1;

    /**
     * How many may knock before the library's thread opens to them; the kernel allows no more.
     * Whoever comes beyond that is not answered, and knocks again four seconds later. How many wait
     * to be accepted is for the listener to decide.
     */
    private static final int LISTEN_BACKLOG = 1024;

    private final RsocketCalls calls;
    private final RdmaAddresses addresses;
    private final RsocketPoller poller;
    private final Semaphore connections;
    private final Semaphore listeners;
    private final ActiveAccepts accepting = new ActiveAccepts();
    private final AwaitedListeners awaited = new AwaitedListeners(BypassConnector.TIMEOUT);

    /** For connecting, and for ends that nobody waits for; both block. */
    private final ExecutorService threads =
            Executors.newCachedThreadPool(
                    Thread.ofPlatform().daemon().name("jrdma-rsocket-connect-", 0).factory());

    /** For ends, which wait until the peer's device has what was sent. */
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
     * Opens librdmacm for the devices of this machine. May block for a moment.
     *
     * @throws FabricException if there is no library, no device, or no access to it
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
        LOG.info("Streams over rsockets, at {}, by {}", addresses.all(), calls);
        return fabric;
    }

    static boolean growsSafely(String library) {
        var version = VERSION.matcher(library);
        return version.find() && Integer.parseInt(version.group(1)) >= GROWS_SAFELY;
    }

    /**
     * Makes room for connections. Before version 53, a thread of the library's goes on to read its
     * table where it was when it had to grow, and then loses connections, or waits without end for
     * one that has nothing to say, and everybody who connects or closes waits with it. The table is
     * larger by four each time that the thread starts, which it does for the first connection.
     *
     * @return for how many there is room
     */
    private int growConnections(InetAddress address) throws FabricException {
        var target = new InetSocketAddress(address, UNUSED_PORT);
        var wanted = Math.ceilDiv(Integer.getInteger(ROOM_PROPERTY, ROOM), GROWTH);
        var grown = 0;
        for (var i = 0; i < MOST_TRIES * wanted && grown < wanted; i++) {
            var number = check("rsocket", calls.socket(RsocketCalls.familyOf(address)));
            calls.doNotBlock(number);
            if (calls.connect(number, target) == -Errno.EINPROGRESS) {
                grown++;
            }
            calls.close(number);
        }
        return GROWTH * grown;
    }

    /** The same for what listens. */
    private int growListeners(InetAddress address) throws FabricException {
        for (var i = 0; i < LISTENER_GROWTHS; i++) {
            var number = check("rsocket", calls.socket(RsocketCalls.familyOf(address)));
            check("rbind", calls.bind(number, new InetSocketAddress(address, 0)));
            check("rlisten", calls.listen(number, 1));
            calls.close(number);
        }
        return GROWTH * LISTENER_GROWTHS;
    }

    /** Something that connects; see {@link BypassConnector}. */
    public BypassConnector connecting(
            InetSocketAddress target,
            int receiveBuffer,
            LocalAddress own,
            Consumer<String> refused) {
        return new RsocketConnector(this, target, receiveBuffer, own, refused);
    }

    /**
     * Lets peers in at an address, or at all that RDMA devices have if it is the wildcard. May
     * block for a moment.
     *
     * @throws FabricException if no device has it; if an rsocket listens there, with EADDRINUSE
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
                    "%s holds no more listeners safely; version %d does"
                            .formatted(calls, GROWS_SAFELY));
        }
        var number = calls.socket(RsocketCalls.familyOf(address.getAddress()));
        try {
            check("rsocket", number);
            accepting.awaitNone(number); // it may have been another's, a moment ago
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

    /** Makes an rsocket that does not block, to be connected. */
    int socket(InternetFamily family, int receiveBuffer) throws FabricException {
        if (!connections.tryAcquire()) {
            throw new FabricException(
                    "%s holds no more connections safely; version %d does, or this with more room: -D%s"
                            .formatted(calls, GROWS_SAFELY, ROOM_PROPERTY));
        }
        var number = calls.socket(family);
        if (number < 0) {
            connections.release();
        }
        check("rsocket", number);
        try {
            check("rfcntl", calls.doNotBlock(number));
            prepare(number, receiveBuffer);
            return number;
        } catch (FabricException e) {
            close(number);
            throw e;
        }
    }

    private void prepare(int number, int receiveBuffer) throws FabricException {
        calls.reuseAddress(number);
        check("rsetsockopt", calls.shownPieces(number, DisconnectExchange.PIECES));
        if (receiveBuffer > 0) {
            calls.buffers(number, receiveBuffer);
        }
    }

    /**
     * Waits for room, and then for the next connection; it, or what is no number of one.
     *
     * @param isOpen whether the listener is not closed; asked when there is room, since its number
     *     may have become another's meanwhile
     */
    int accept(int listener, BooleanSupplier isOpen) {
        connections.acquireUninterruptibly();
        var number = 0;
        if (accepting.enter(listener, isOpen)) {
            try {
                number = calls.accept(listener);
            } finally {
                accepting.leave(listener);
            }
        }
        if (number <= 0) {
            connections.release();
        } else {
            calls.doNotBlock(number);
        }
        return number;
    }

    /** Closes what was connected, or was to be. Blocks until the peer has what was sent. */
    void close(int number) {
        calls.close(number);
        connections.release();
    }

    /** Closes what listens, and who was not accepted. Who waits there gets 0, or an errno. */
    void closeListener(int listener) {
        try {
            calls.doNotBlock(listener);
            for (var left = calls.accept(listener); left > 0; left = calls.accept(listener)) {
                closeUnaccepted(left);
            }
        } finally {
            calls.close(listener);
            listeners.release();
        }
    }

    /** On another thread, since who has given up does not answer; here if there is no room. */
    private void closeUnaccepted(int number) {
        if (connections.tryAcquire()) {
            threads.execute(() -> close(number));
        } else {
            calls.close(number);
        }
    }

    /**
     * The result of a call, if it is one.
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

    AwaitedListeners awaited() {
        return awaited;
    }

    Executor threads() {
        return threads;
    }

    /** For what ends a stream, which may block. */
    Executor closers() {
        return closers;
    }
}
