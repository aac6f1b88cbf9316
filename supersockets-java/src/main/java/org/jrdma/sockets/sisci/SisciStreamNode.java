package org.jrdma.sockets.sisci;

import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.sisci.InterruptOptions;
import org.jrdma.sisci.LocalInterrupt;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The SISCI node of this process, and all streams of the process over SISCI.
 *
 * <p>A process has one interrupt for all of its streams. A peer marks a stream in the {@link
 * WakeUpMarks} and triggers the interrupt after it has stored something for the stream while its
 * threads sleep. The process then scans the marked streams; see {@link IncomingWakeUps}. Exists
 * until the JVM exits. Safe for use by multiple threads.
 */
public final class SisciStreamNode {

    private static final int CONNECT_THREADS = 32;
    private static final int ACCEPT_THREADS = 8;
    private static final int ACCEPT_THREADS_PER_CLIENT = 4;
    private static final int DISCONNECT_THREADS = 4;

    /** The approximate maximum number of closed streams that keep their segments. */
    private static final int MAX_KEPT = 128;

    private static final long UNUSED_SECONDS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(SisciStreamNode.class);

    private final Node node;
    private final LocalInterrupt wakeUp;
    private final WakeUpMarks marks;
    private final IncomingWakeUps incoming;
    private final OutgoingWakeUps outgoing;
    private final RingMemoryBudget ringMemory = new RingMemoryBudget();
    private final MissedWakeUpScanner scanner;
    private final Set<SisciStream> streams = ConcurrentHashMap.newKeySet();

    /**
     * The closed streams that keep their segments for another stream. Contains also streams whose
     * peer has not closed its end yet.
     */
    private final Set<SisciStream> kept = ConcurrentHashMap.newKeySet();

    /**
     * The unused streams in {@code kept} whose segments a new connection to the same listener can
     * use: those of this process as a client, with both ends closed. The most recent stream is the
     * first.
     */
    private final Deque<SisciStream> unused = new ConcurrentLinkedDeque<>();

    /**
     * Runs connection attempts, which may wait for a peer. The number of threads is limited,
     * because closing a SISCI object stops all threads of the JVM for a moment.
     */
    private final Executor connectors = threads("connect", CONNECT_THREADS);

    /**
     * Runs the handshakes of listeners. The executor has other threads than the connection
     * attempts, so that no connect request waits for a connection attempt of this process.
     */
    private final AcceptExecutor acceptors =
            new AcceptExecutor(threads("accept", ACCEPT_THREADS), ACCEPT_THREADS_PER_CLIENT);

    /**
     * Runs disconnects, which block only briefly, but of which there may be thousands at a time.
     */
    private final Executor disconnectors = threads("disconnect", DISCONNECT_THREADS);

    private SisciStreamNode(Node node, LocalInterrupt wakeUp) throws SisciException {
        this.node = node;
        this.wakeUp = wakeUp;
        this.marks = WakeUpMarks.create(node);
        this.incoming =
                new IncomingWakeUps(
                        wakeUp, connect(node, wakeUp), IncomingWakeUps.MAX_WAIT, this::scanMarked);
        this.scanner = new MissedWakeUpScanner(() -> incoming.scanAll(this::scanAll));
        this.outgoing = new OutgoingWakeUps(node);
    }

    /**
     * Opens the SISCI node of this process on the first adapter of this machine.
     *
     * @throws SisciException if there is no adapter, or the driver is not loaded
     */
    public static SisciStreamNode open(Sisci library) throws SisciException {
        var streamNode = openWithoutScanner(library);
        streamNode.scanner.start();
        LOG.info("Using SISCI streams from node {} with {}", streamNode.nodeId(), library);
        return streamNode;
    }

    /** Opens a node without the scanner, which would hide from a test that a wake-up is missed. */
    static SisciStreamNode openWithoutScanner(Sisci library) throws SisciException {
        var node = library.open();
        try {
            var wakeUp = node.newInterrupt(InterruptOptions.ANY.asAwaited());
            var streamNode = new SisciStreamNode(node, wakeUp);
            streamNode.incoming.start();
            return streamNode;
        } catch (Throwable e) {
            node.close();
            throw e;
        }
    }

    /** Connects to an interrupt of this process. Returns null if the driver does not allow it. */
    private static @Nullable RemoteInterrupt connect(Node node, LocalInterrupt own) {
        try {
            return node.connectInterrupt(node.id(), own.number(), Duration.ZERO);
        } catch (FabricException | InterruptedIOException e) {
            LOG.debug("Could not connect to {}: {}", own, e.getMessage());
            return null;
        }
    }

    public int nodeId() {
        return node.id();
    }

    /**
     * Listens at a port of this node. May block briefly.
     *
     * @throws FabricException with the code EADDRINUSE if the port has a listener already
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

    /**
     * Calls {@link SisciStream#scan} for all streams.
     *
     * @return true if one of the streams {@linkplain SisciStream#needsService needs the service
     *     thread}
     */
    boolean scanAll() {
        var needsService = false;
        for (var stream : streams) {
            scan(stream);
            needsService |= stream.needsService();
        }
        return needsService;
    }

    private void scanMarked() {
        if (!marks.scanMarked(this::scanAll)) {
            scanSoon();
        }
    }

    /** Scans a stream. A failure does not concern other streams. */
    void scan(SisciStream stream) {
        try {
            stream.scan();
        } catch (OutOfMemoryError e) {
            scanSoon();
            FailureLog.error(LOG, "Could not scan a SISCI stream; the scan is repeated", e);
        } catch (Throwable e) {
            FailureLog.error(LOG, "Could not scan a SISCI stream; the stream fails", e);
            fail(stream);
        }
    }

    private static void fail(SisciStream stream) {
        try {
            stream.fail();
        } catch (Throwable e) {
            FailureLog.error(LOG, "Could not wake up the threads of a SISCI stream", e);
        }
    }

    IncomingWakeUps incomingWakeUps() {
        return incoming;
    }

    void scanSoon() {
        scanner.scanSoon();
    }

    Node node() {
        return node;
    }

    int wakeUpNumber() {
        return wakeUp.number();
    }

    WakeUpMarks marks() {
        return marks;
    }

    OutgoingWakeUps outgoingWakeUps() {
        return outgoing;
    }

    RingMemoryBudget ringMemory() {
        return ringMemory;
    }

    void add(SisciStream stream) {
        streams.add(stream);
    }

    void remove(SisciStream stream) {
        streams.remove(stream);
    }

    /**
     * Adds a closed stream to those that keep their segments for another stream. Returns false if
     * there are too many.
     */
    boolean tryKeep(SisciStream stream) {
        if (kept.size() >= MAX_KEPT || !kept.add(stream)) {
            return false;
        }
        incoming.requireService(); // The peer may close the stream.
        return true;
    }

    /**
     * Makes the segments of a stream whose ends are both closed available for new connections to
     * the same listener. At the accepting end of the stream, the peer requests these connections.
     */
    void addUnused(SisciStream stream) {
        if (stream.use() instanceof StreamSegment.Route) {
            unused.push(stream);
        } else {
            incoming.requireService(); // The peer may request the next stream.
        }
    }

    /** Removes a stream from those that keep their segments. */
    void release(SisciStream stream) {
        kept.remove(stream);
        unused.remove(stream);
    }

    /**
     * Creates a stream over the segments of an unused stream to the same listener. Returns null if
     * there is none.
     */
    @Nullable SisciStream next(StreamSegment.Route route) {
        for (var stream : unused) {
            var next = stream.use().equals(route) ? stream.next() : null;
            if (next != null) {
                return next;
            }
        }
        return null;
    }

    private static Executor threads(String name, int count) {
        var threads =
                new ThreadPoolExecutor(
                        count,
                        count,
                        UNUSED_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        Thread.ofPlatform()
                                .daemon()
                                .name("jrdma-sisci-%s-".formatted(name), 0)
                                .factory());
        threads.allowCoreThreadTimeOut(true);
        return task -> threads.execute(() -> run(task));
    }

    /** Runs a task of a thread that continues with other tasks. */
    private static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            FailureLog.error(LOG, "A task for SISCI streams failed", e);
        }
    }

    /** Runs a connection attempt, which may wait for a peer. */
    void executeConnect(Runnable task) {
        connectors.execute(task);
    }

    /**
     * Runs the handshake for a connect request on another thread.
     *
     * @param client the address of the client
     * @return false if too many handshakes wait for the address
     */
    boolean tryExecuteAccept(InetAddress client, Runnable task) {
        return acceptors.tryExecute(client, task);
    }

    /** Runs a disconnect. Disconnects start in the order of the calls of this method. */
    void executeDisconnect(Runnable task) {
        disconnectors.execute(task);
    }
}
