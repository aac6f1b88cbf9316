package org.jrdma.sockets.sisci;

import java.net.InetSocketAddress;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Interrupt;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process as one end of streams over SISCI. It has one interrupt, by which peers say that
 * something has happened to some stream of this process that sleeps; then all are looked at, which
 * takes a few loads for each. Stays for as long as the JVM runs. Safe for use by several threads.
 */
public final class SisciFabric {

    private static final int CONNECTORS = 32;
    private static final int ACCEPTORS = 8;
    private static final int DISCONNECTORS = 4;

    /** How many ends of streams that have ended keep their segments for another one, about. */
    private static final int MOST_KEPT = 128;

    private static final long UNUSED_SECONDS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(SisciFabric.class);

    private final Node node;
    private final Interrupt wakeUp;
    private final WakeUps wakeUps;
    private final StreamScanner scanner = new StreamScanner(this::look);
    private final Set<SisciStream> streams = ConcurrentHashMap.newKeySet();

    /** Their segments wait for another stream, or soon. */
    private final Set<SisciStream> kept = ConcurrentHashMap.newKeySet();

    /** Those of {@code kept} by which this end can call, the last first. */
    private final Deque<SisciStream> unused = new ConcurrentLinkedDeque<>();

    /**
     * For those that connect, which may wait for a peer. Not as many as there are streams: each
     * object that is closed stops all threads for a moment, so that thousands would do nothing
     * else.
     */
    private final ExecutorService connectors = threads("connect", CONNECTORS);

    /** For those that are let in, so that a caller never waits for a caller. */
    private final ExecutorService acceptors = threads("accept", ACCEPTORS);

    /** For their end, which hardly waits; there may be thousands at once. */
    private final ExecutorService disconnectors = threads("disconnect", DISCONNECTORS);

    private SisciFabric(Node node, Interrupt wakeUp) {
        this.node = node;
        this.wakeUp = wakeUp;
        this.wakeUps = new WakeUps(node);
    }

    /**
     * Opens this node by its first adapter.
     *
     * @throws SisciException if there is no adapter, or the driver is not loaded
     */
    public static SisciFabric open(Sisci library) throws SisciException {
        var node = library.open();
        try {
            var wakeUp = node.newInterrupt();
            var fabric = new SisciFabric(node, wakeUp);
            wakeUp.onTrigger(fabric::look);
            fabric.scanner.start();
            LOG.info("Streams over SISCI from node {}, by {}", node.id(), library);
            return fabric;
        } catch (SisciException | RuntimeException e) {
            node.close();
            throw e;
        }
    }

    /** The id of this node. */
    public int nodeId() {
        return node.id();
    }

    /**
     * Something that connects to a listener.
     *
     * @param refused told of the reason, on a thread of the fabric's, before there is an outcome
     */
    public SisciConnector connecting(
            SisciConnector.Target target, int ringBytes, Consumer<String> refused) {
        return new SisciConnector(this, target, ringBytes, refused);
    }

    /**
     * Tells peers that someone listens at a port of this node. May block for a moment.
     *
     * @throws FabricException with EADDRINUSE if someone else does already
     */
    public SisciListener listen(InetSocketAddress address, int backlog, int ringBytes)
            throws FabricException {
        try {
            return SisciListener.open(this, address, backlog, ringBytes);
        } catch (SisciException e) {
            throw e.error() == SisciError.SEGMENT_ID_USED
                    ? new FabricException(e.getMessage(), Errno.EADDRINUSE, e)
                    : e;
        }
    }

    /** Looks at all streams; one that fails does not keep the others from being looked at. */
    private void look() {
        for (var stream : streams) {
            try {
                stream.look();
            } catch (RuntimeException e) {
                LOG.error("Failing a stream over SISCI that cannot be looked at", e);
                stream.fail();
            }
        }
    }

    /** Someone goes to sleep at a stream that is looked at. */
    void willSleep() {
        scanner.scanSoon();
    }

    Node node() {
        return node;
    }

    int wakeUpNumber() {
        return wakeUp.number();
    }

    WakeUps wakeUps() {
        return wakeUps;
    }

    void add(SisciStream stream) {
        streams.add(stream);
    }

    void remove(SisciStream stream) {
        streams.remove(stream);
    }

    /** Whether the segments of one that ends may wait for the next. */
    boolean mayKeep(SisciStream stream) {
        return kept.size() < MOST_KEPT && kept.add(stream);
    }

    /** Both ends are closed. */
    void unused(SisciStream stream) {
        if (stream.use() instanceof SegmentPair.Route) {
            unused.push(stream);
        }
    }

    /** Ends what the two before began. */
    void noLongerUnused(SisciStream stream) {
        kept.remove(stream);
        unused.remove(stream);
    }

    /** One that follows another by the same way; null if there is none. */
    @Nullable SisciStream next(SegmentPair.Route route) {
        for (var stream : unused) {
            var next = stream.use().equals(route) ? stream.next() : null;
            if (next != null) {
                return next;
            }
        }
        return null;
    }

    private static ExecutorService threads(String name, int most) {
        var threads =
                new ThreadPoolExecutor(
                        most,
                        most,
                        UNUSED_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        Thread.ofPlatform()
                                .daemon()
                                .name("jrdma-sisci-%s-".formatted(name), 0)
                                .factory());
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** Runs what connects, and may wait for a peer. */
    void executeConnect(Runnable task) {
        connectors.execute(task);
    }

    /** Runs what lets a peer in. */
    void executeAccept(Runnable task) {
        acceptors.execute(task);
    }

    /** Runs the end of a stream, when those before it have had their turn. */
    void executeDisconnect(Runnable task) {
        disconnectors.execute(task);
    }
}
