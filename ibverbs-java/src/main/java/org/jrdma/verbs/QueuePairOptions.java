package org.jrdma.verbs;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.QueuePairConfig;
import org.jrdma.verbs.queue.WorkQueueSlots;
import org.jspecify.annotations.Nullable;

/**
 * Options of a queue pair. Immutable: each method returns a changed copy.
 *
 * @param <Q> the class of the queue pair, which the completion queue determines
 */
@CheckReturnValue
public final class QueuePairOptions<Q extends QueuePair> {

    /**
     * Creates a queue pair. The class of the queue pair depends on the completion queue: polled or
     * asynchronous.
     */
    @FunctionalInterface
    interface Maker<Q extends QueuePair> {
        Q make(ProtectionDomain domain, QueuePairConfig config, @Nullable SharedReceiveQueue shared)
                throws VerbsException;
    }

    private static final int MAX_DEFAULT_REQUESTS = 16;

    private final QueuePairType type;
    private final Maker<Q> maker;
    private int sends;
    private int receives;
    private int sendElements = 1;
    private int receiveElements = 1;
    private int inlineBytes;
    private int port = 1;
    private OptionalInt gidIndex = OptionalInt.empty();
    private @Nullable SharedReceiveQueue sharedReceives;
    private boolean mayOverrun;
    private boolean extendedPosts;
    private final EnumSet<Operation> newerOperations = EnumSet.noneOf(Operation.class);
    private Duration slotTimeout = Duration.ofSeconds(10);

    private QueuePairOptions(QueuePairType type, Maker<Q> maker, int room) {
        this.type = type;
        this.maker = maker;
        this.sends = Math.clamp(room / 2, 1, MAX_DEFAULT_REQUESTS);
        this.receives = sends;
    }

    private QueuePairOptions(QueuePairOptions<Q> other) {
        type = other.type;
        maker = other.maker;
        sends = other.sends;
        receives = other.receives;
        sendElements = other.sendElements;
        receiveElements = other.receiveElements;
        inlineBytes = other.inlineBytes;
        port = other.port;
        gidIndex = other.gidIndex;
        sharedReceives = other.sharedReceives;
        mayOverrun = other.mayOverrun;
        extendedPosts = other.extendedPosts;
        newerOperations.addAll(other.newerOperations);
        slotTimeout = other.slotTimeout;
    }

    private QueuePairOptions<Q> with(Consumer<QueuePairOptions<Q>> change) {
        var copy = new QueuePairOptions<>(this);
        change.accept(copy);
        return copy;
    }

    /** Options of a polled reliable connected queue pair. In C: {@code IBV_QPT_RC}. */
    public static QueuePairOptions<PolledQueuePair> reliable(CompletionQueue completions) {
        return reliable(completions, completions);
    }

    /**
     * Options of a polled reliable connected queue pair with separate completion queues for sends
     * and receives.
     */
    public static QueuePairOptions<PolledQueuePair> reliable(
            CompletionQueue sendCompletions, CompletionQueue receiveCompletions) {
        return connected(QueuePairType.RELIABLE_CONNECTION, sendCompletions, receiveCompletions);
    }

    /** Options of an asynchronous reliable connected queue pair. In C: {@code IBV_QPT_RC}. */
    public static QueuePairOptions<AsyncQueuePair> reliable(CompletionDispatcher completions) {
        return connected(QueuePairType.RELIABLE_CONNECTION, completions);
    }

    /**
     * Options of a polled unreliable connected queue pair. Messages and writes may be lost without
     * an error. Reads and atomics are not supported. In C: {@code IBV_QPT_UC}.
     */
    public static QueuePairOptions<PolledQueuePair> unreliable(CompletionQueue completions) {
        return unreliable(completions, completions);
    }

    /**
     * Options of a polled unreliable connected queue pair with separate completion queues for sends
     * and receives.
     */
    public static QueuePairOptions<PolledQueuePair> unreliable(
            CompletionQueue sendCompletions, CompletionQueue receiveCompletions) {
        return connected(QueuePairType.UNRELIABLE_CONNECTION, sendCompletions, receiveCompletions);
    }

    /** Options of an asynchronous unreliable connected queue pair. In C: {@code IBV_QPT_UC}. */
    public static QueuePairOptions<AsyncQueuePair> unreliable(CompletionDispatcher completions) {
        return connected(QueuePairType.UNRELIABLE_CONNECTION, completions);
    }

    /** Options of a polled datagram queue pair. In C: {@code IBV_QPT_UD}. */
    public static QueuePairOptions<PolledDatagramQueuePair> datagrams(CompletionQueue completions) {
        return datagrams(completions, completions);
    }

    /**
     * Options of a polled datagram queue pair with separate completion queues for sends and
     * receives.
     */
    public static QueuePairOptions<PolledDatagramQueuePair> datagrams(
            CompletionQueue sendCompletions, CompletionQueue receiveCompletions) {
        return new QueuePairOptions<>(
                QueuePairType.UNRELIABLE_DATAGRAM,
                polled(PolledDatagramQueuePair::new, sendCompletions, receiveCompletions),
                Math.min(
                        sendCompletions.remainingCapacity(),
                        receiveCompletions.remainingCapacity()));
    }

    /** Options of an asynchronous datagram queue pair. In C: {@code IBV_QPT_UD}. */
    public static QueuePairOptions<AsyncDatagramQueuePair> datagrams(
            CompletionDispatcher completions) {
        return new QueuePairOptions<>(
                QueuePairType.UNRELIABLE_DATAGRAM,
                async(AsyncDatagramQueuePair::new, completions),
                completions.remainingCapacity());
    }

    /** Options of a polled raw packet queue pair. In C: {@code IBV_QPT_RAW_PACKET}. */
    public static QueuePairOptions<PolledRawQueuePair> rawPackets(CompletionQueue completions) {
        return rawPackets(completions, completions);
    }

    /**
     * Options of a polled raw packet queue pair with separate completion queues for sends and
     * receives.
     */
    public static QueuePairOptions<PolledRawQueuePair> rawPackets(
            CompletionQueue sendCompletions, CompletionQueue receiveCompletions) {
        return new QueuePairOptions<>(
                QueuePairType.RAW_PACKET,
                polled(PolledRawQueuePair::new, sendCompletions, receiveCompletions),
                Math.min(
                        sendCompletions.remainingCapacity(),
                        receiveCompletions.remainingCapacity()));
    }

    /** Options of an asynchronous raw packet queue pair. In C: {@code IBV_QPT_RAW_PACKET}. */
    public static QueuePairOptions<AsyncRawQueuePair> rawPackets(CompletionDispatcher completions) {
        return new QueuePairOptions<>(
                QueuePairType.RAW_PACKET,
                async(AsyncRawQueuePair::new, completions),
                completions.remainingCapacity());
    }

    /**
     * Options of the polled sending side of an extended reliable connection. Such a queue pair
     * cannot receive. In C: {@code IBV_QPT_XRC_SEND}, {@code ibv_create_qp_ex}.
     */
    public static QueuePairOptions<PolledQueuePair> xrcSend(CompletionQueue completions) {
        return connected(QueuePairType.XRC_SEND, completions, completions);
    }

    /**
     * Options of the asynchronous sending side of an extended reliable connection. Such a queue
     * pair cannot receive. In C: {@code IBV_QPT_XRC_SEND}, {@code ibv_create_qp_ex}.
     */
    public static QueuePairOptions<AsyncQueuePair> xrcSend(CompletionDispatcher completions) {
        return connected(QueuePairType.XRC_SEND, completions);
    }

    /** Calls the constructor of a polled queue pair. */
    @FunctionalInterface
    private interface Polled<Q> {
        Q make(AbstractPolledQueuePair.Parameters parameters) throws VerbsException;
    }

    /** Calls the constructor of an asynchronous queue pair. */
    @FunctionalInterface
    private interface Async<Q> {
        Q make(AbstractAsyncQueuePair.Parameters parameters) throws VerbsException;
    }

    private static <Q extends QueuePair> Maker<Q> polled(
            Polled<Q> constructor,
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions) {
        return (domain, config, shared) ->
                constructor.make(
                        new AbstractPolledQueuePair.Parameters(
                                domain, sendCompletions, receiveCompletions, config, shared));
    }

    private static <Q extends QueuePair> Maker<Q> async(
            Async<Q> constructor, CompletionDispatcher completions) {
        return (domain, config, shared) ->
                constructor.make(
                        new AbstractAsyncQueuePair.Parameters(domain, completions, config, shared));
    }

    private static QueuePairOptions<PolledQueuePair> connected(
            QueuePairType type,
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions) {
        return new QueuePairOptions<>(
                type,
                polled(PolledQueuePair::new, sendCompletions, receiveCompletions),
                Math.min(
                        sendCompletions.remainingCapacity(),
                        receiveCompletions.remainingCapacity()));
    }

    private static QueuePairOptions<AsyncQueuePair> connected(
            QueuePairType type, CompletionDispatcher completions) {
        return new QueuePairOptions<>(
                type, async(AsyncQueuePair::new, completions), completions.remainingCapacity());
    }

    /**
     * Sets the capacity of the send queue in requests. The default is half of the remaining
     * capacity that the completion queue had when these options were created, but at least 1 and at
     * most 16.
     */
    public QueuePairOptions<Q> sends(int count) {
        return with(copy ->
                copy.sends =
                        FieldRangeChecks.check(
                                "number of sends", count, 1, WorkQueueSlots.MAX_CAPACITY));
    }

    /**
     * Sets the capacity of the receive queue in requests. The default is the same number as the
     * default of {@link #sends}, even if the program changes the number of sends.
     */
    public QueuePairOptions<Q> receives(int count) {
        return with(copy ->
                copy.receives =
                        FieldRangeChecks.check(
                                "number of receives", count, 1, WorkQueueSlots.MAX_CAPACITY));
    }

    /**
     * Sets a shared receive queue, which replaces the queue pair's own receive queue; {@link
     * #receives} and {@link #receiveElements} then have no effect. The shared receive queue must
     * belong to the protection domain of the queue pair. A polled queue pair requires a polled
     * shared receive queue, and an asynchronous queue pair an asynchronous one.
     */
    public QueuePairOptions<Q> sharedReceives(SharedReceiveQueue queue) {
        return with(copy -> copy.sharedReceives = queue);
    }

    /** Sets the maximum number of memory slices of a request of the send queue; 1 by default. */
    public QueuePairOptions<Q> sendElements(int count) {
        return with(copy ->
                copy.sendElements =
                        FieldRangeChecks.check(
                                "number of send elements", count, 1, WorkRequest.MAX_ELEMENTS));
    }

    /** Sets the maximum number of memory slices of a receive; 1 by default. */
    public QueuePairOptions<Q> receiveElements(int count) {
        return with(copy ->
                copy.receiveElements =
                        FieldRangeChecks.check(
                                "number of receive elements", count, 1, WorkRequest.MAX_ELEMENTS));
    }

    /**
     * Sets the maximum number of bytes that can be sent inline; 0 by default. A post copies inline
     * data, so its memory can be reused immediately.
     */
    public QueuePairOptions<Q> inlineBytes(int count) {
        return with(copy ->
                copy.inlineBytes =
                        FieldRangeChecks.check(
                                "number of inline bytes", count, 0, Integer.MAX_VALUE));
    }

    /** Sets the number of the device port; 1 by default, which is the first port. */
    public QueuePairOptions<Q> port(int number) {
        return with(copy -> copy.port = FieldRangeChecks.check("port", number, 1, 255));
    }

    /**
     * Sets the index of the GID table entry whose GID is the source address. On Ethernet, the
     * default is the best entry of {@link Device#chooseGid}. On InfiniBand, the queue pair has no
     * source GID by default.
     */
    public QueuePairOptions<Q> gidIndex(int index) {
        return with(copy ->
                copy.gidIndex =
                        OptionalInt.of(
                                FieldRangeChecks.check("GID index", index, 0, Integer.MAX_VALUE)));
    }

    /**
     * Allows the queue pair to have more requests than the remaining capacity of the completion
     * queue. The program must then make sure that the completion queue never overruns, for example
     * by signaling only some requests. An overrun makes the completion queue and its queue pairs
     * fail.
     */
    public QueuePairOptions<Q> completionQueueMayOverrun() {
        return with(copy -> copy.mayOverrun = true);
    }

    /**
     * Selects extended posts: one call of {@code ibv_wr_start}, one call for each part of a
     * request, and one call of {@code ibv_wr_complete}. A chain is then posted entirely or not at
     * all. Some devices accept extended posts faster than others and support some operations only
     * in this way. However, each part of a request costs a native call. In C: {@code
     * ibv_create_qp_ex}, {@code ibv_qp_to_qp_ex}.
     */
    public QueuePairOptions<Q> extendedPosts() {
        return with(copy -> copy.extendedPosts = true);
    }

    /**
     * Enables atomic writes of 8 bytes, which few devices support. Also selects {@link
     * #extendedPosts}, which atomic writes require. In C: {@code IBV_QP_EX_WITH_ATOMIC_WRITE}.
     */
    public QueuePairOptions<Q> atomicWrites() {
        return newerOperation(Operation.ATOMIC_WRITE);
    }

    /**
     * Enables flushes of remote memory, which few devices support. Also selects {@link
     * #extendedPosts}, which flushes require. In C: {@code IBV_QP_EX_WITH_FLUSH}.
     */
    public QueuePairOptions<Q> flushes() {
        return newerOperation(Operation.FLUSH);
    }

    private QueuePairOptions<Q> newerOperation(Operation operation) {
        return with(copy -> {
            copy.newerOperations.add(operation);
            copy.extendedPosts = true;
        });
    }

    /**
     * Sets the maximum time that an asynchronous operation waits for a free slot; 10 seconds by
     * default. Has no effect on polled queue pairs.
     */
    public QueuePairOptions<Q> slotTimeout(Duration timeout) {
        return with(copy -> copy.slotTimeout = Objects.requireNonNull(timeout));
    }

    Q make(ProtectionDomain domain) throws VerbsException {
        var hasReceives = sharedReceives == null && type != QueuePairType.XRC_SEND;
        return maker.make(
                domain,
                new QueuePairConfig(
                        type,
                        port,
                        gidIndex,
                        sends,
                        hasReceives ? receives : 0,
                        sendElements,
                        hasReceives ? receiveElements : 0,
                        inlineBytes,
                        mayOverrun,
                        extendedPosts,
                        Set.copyOf(newerOperations),
                        slotTimeout),
                sharedReceives);
    }
}
