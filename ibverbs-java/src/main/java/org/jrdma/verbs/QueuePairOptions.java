package org.jrdma.verbs;

import java.time.Duration;
import java.util.EnumSet;
import java.util.OptionalInt;
import java.util.Set;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * How a queue pair is made. Built by its own methods.
 *
 * @param <Q> the kind of queue pair, which the completion queue decides
 */
public final class QueuePairOptions<Q extends QueuePair> {

    /** Makes the kind of queue pair that suits the completion queue. */
    @FunctionalInterface
    interface Maker<Q extends QueuePair> {
        Q make(ProtectionDomain domain, QueuePairOptions<Q> options) throws VerbsException;
    }

    private static final int MOST_BY_DEFAULT = 16;

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
    private boolean postedExtended;
    private final Set<Operation> newerOperations = EnumSet.noneOf(Operation.class);
    private Duration slotTimeout = Duration.ofSeconds(10);

    private QueuePairOptions(QueuePairType type, Maker<Q> maker, int room) {
        this.type = type;
        this.maker = maker;
        this.sends = Math.clamp(room / 2, 1, MOST_BY_DEFAULT);
        this.receives = sends;
    }

    private QueuePairOptions(QueuePairOptions<Q> other) {
        this.type = other.type;
        this.maker = other.maker;
        this.sends = other.sends;
        this.receives = other.receives;
        this.sendElements = other.sendElements;
        this.receiveElements = other.receiveElements;
        this.inlineBytes = other.inlineBytes;
        this.port = other.port;
        this.gidIndex = other.gidIndex;
        this.sharedReceives = other.sharedReceives;
        this.mayOverrun = other.mayOverrun;
        this.postedExtended = other.postedExtended;
        this.newerOperations.addAll(other.newerOperations);
        this.slotTimeout = other.slotTimeout;
    }

    /**
     * A reliable, connected queue pair whose user polls for completions. In C: {@code IBV_QPT_RC}.
     */
    public static QueuePairOptions<PolledQueuePair> reliable(CompletionQueue completions) {
        return reliable(completions, completions);
    }

    /** The same, with a completion queue for each direction. */
    public static QueuePairOptions<PolledQueuePair> reliable(
            CompletionQueue ofSends, CompletionQueue ofReceives) {
        return connected(QueuePairType.RELIABLE_CONNECTION, ofSends, ofReceives);
    }

    /** A reliable, connected queue pair whose operations are awaited. In C: {@code IBV_QPT_RC}. */
    public static QueuePairOptions<AsyncQueuePair> reliable(CompletionDispatcher completions) {
        return connected(QueuePairType.RELIABLE_CONNECTION, completions);
    }

    /**
     * An unreliable, connected queue pair whose user polls for completions: what it sends or writes
     * may be lost without a word. It has no reads and no atomics. In C: {@code IBV_QPT_UC}.
     */
    public static QueuePairOptions<PolledQueuePair> unreliable(CompletionQueue completions) {
        return unreliable(completions, completions);
    }

    /** The same, with a completion queue for each direction. */
    public static QueuePairOptions<PolledQueuePair> unreliable(
            CompletionQueue ofSends, CompletionQueue ofReceives) {
        return connected(QueuePairType.UNRELIABLE_CONNECTION, ofSends, ofReceives);
    }

    /**
     * An unreliable, connected queue pair whose operations are awaited. In C: {@code IBV_QPT_UC}.
     */
    public static QueuePairOptions<AsyncQueuePair> unreliable(CompletionDispatcher completions) {
        return connected(QueuePairType.UNRELIABLE_CONNECTION, completions);
    }

    /** A queue pair for datagrams whose user polls for completions. In C: {@code IBV_QPT_UD}. */
    public static QueuePairOptions<PolledDatagramQueuePair> datagrams(CompletionQueue completions) {
        return datagrams(completions, completions);
    }

    /** The same, with a completion queue for each direction. */
    public static QueuePairOptions<PolledDatagramQueuePair> datagrams(
            CompletionQueue ofSends, CompletionQueue ofReceives) {
        return new QueuePairOptions<>(
                QueuePairType.UNRELIABLE_DATAGRAM,
                (domain, options) ->
                        new PolledDatagramQueuePair(domain, ofSends, ofReceives, options),
                Math.min(ofSends.room(), ofReceives.room()));
    }

    /** A queue pair for datagrams whose operations are awaited. In C: {@code IBV_QPT_UD}. */
    public static QueuePairOptions<AsyncDatagramQueuePair> datagrams(
            CompletionDispatcher completions) {
        return new QueuePairOptions<>(
                QueuePairType.UNRELIABLE_DATAGRAM,
                (domain, options) -> new AsyncDatagramQueuePair(domain, completions, options),
                completions.room());
    }

    /**
     * A queue pair for raw packets whose user polls for completions. In C: {@code
     * IBV_QPT_RAW_PACKET}.
     */
    public static QueuePairOptions<PolledRawQueuePair> rawPackets(CompletionQueue completions) {
        return rawPackets(completions, completions);
    }

    /** The same, with a completion queue for each direction. */
    public static QueuePairOptions<PolledRawQueuePair> rawPackets(
            CompletionQueue ofSends, CompletionQueue ofReceives) {
        return new QueuePairOptions<>(
                QueuePairType.RAW_PACKET,
                (domain, options) -> new PolledRawQueuePair(domain, ofSends, ofReceives, options),
                Math.min(ofSends.room(), ofReceives.room()));
    }

    /**
     * A queue pair for raw packets whose operations are awaited. In C: {@code IBV_QPT_RAW_PACKET}.
     */
    public static QueuePairOptions<AsyncRawQueuePair> rawPackets(CompletionDispatcher completions) {
        return new QueuePairOptions<>(
                QueuePairType.RAW_PACKET,
                (domain, options) -> new AsyncRawQueuePair(domain, completions, options),
                completions.room());
    }

    /**
     * The sending end of an extended reliable connection whose user polls for completions. It
     * receives nothing. In C: {@code IBV_QPT_XRC_SEND}, {@code ibv_create_qp_ex}.
     */
    public static QueuePairOptions<PolledXrcSendQueuePair> xrcSend(CompletionQueue completions) {
        return new QueuePairOptions<>(
                QueuePairType.XRC_SEND,
                (domain, options) -> new PolledXrcSendQueuePair(domain, completions, options),
                completions.room());
    }

    /**
     * The sending end of an extended reliable connection whose operations are awaited. It receives
     * nothing. In C: {@code IBV_QPT_XRC_SEND}, {@code ibv_create_qp_ex}.
     */
    public static QueuePairOptions<AsyncXrcSendQueuePair> xrcSend(
            CompletionDispatcher completions) {
        return new QueuePairOptions<>(
                QueuePairType.XRC_SEND,
                (domain, options) -> new AsyncXrcSendQueuePair(domain, completions, options),
                completions.room());
    }

    private static QueuePairOptions<PolledQueuePair> connected(
            QueuePairType type, CompletionQueue ofSends, CompletionQueue ofReceives) {
        return new QueuePairOptions<>(
                type,
                (domain, options) -> new PolledQueuePair(domain, ofSends, ofReceives, options),
                Math.min(ofSends.room(), ofReceives.room()));
    }

    private static QueuePairOptions<AsyncQueuePair> connected(
            QueuePairType type, CompletionDispatcher completions) {
        return new QueuePairOptions<>(
                type,
                (domain, options) -> new AsyncQueuePair(domain, completions, options),
                completions.room());
    }

    /**
     * How many requests to send, read or write there is room for. By default half of the room in
     * the completion queue, 16 at most.
     */
    public QueuePairOptions<Q> sends(int count) {
        this.sends = atLeast(1, count, "sends");
        return this;
    }

    /** How many receives there is room for. By default as many as sends. */
    public QueuePairOptions<Q> receives(int count) {
        this.receives = atLeast(1, count, "receives");
        return this;
    }

    /**
     * Receives from a queue that other queue pairs use as well, instead of one of its own: what
     * {@link #receives} and {@link #receiveElements} say is then of no meaning. It is of the same
     * domain, and for the same kind of completion queue.
     */
    public QueuePairOptions<Q> sharedReceives(SharedReceiveQueue queue) {
        this.sharedReceives = queue;
        return this;
    }

    /** How many pieces of memory a request to send can gather; 1 by default. */
    public QueuePairOptions<Q> sendElements(int count) {
        this.sendElements = atLeast(1, count, "send elements");
        return this;
    }

    /** How many pieces of memory a receive can scatter to; 1 by default. */
    public QueuePairOptions<Q> receiveElements(int count) {
        this.receiveElements = atLeast(1, count, "receive elements");
        return this;
    }

    /** How many bytes can be sent inline, copied during the post; none by default. */
    public QueuePairOptions<Q> inlineBytes(int count) {
        this.inlineBytes = atLeast(0, count, "inline bytes");
        return this;
    }

    /** The port, from 1; the first by default. */
    public QueuePairOptions<Q> port(int number) {
        this.port = atLeast(1, number, "port");
        return this;
    }

    /**
     * The row of the port's GID table to send from. By default what {@link Device#chooseGid} ranks
     * first on Ethernet, and none on InfiniBand.
     */
    public QueuePairOptions<Q> gidIndex(int index) {
        this.gidIndex = OptionalInt.of(atLeast(0, index, "GID index"));
        return this;
    }

    /**
     * Lets the queue pair have more requests than the completion queue has room for. It is then up
     * to the program that so many are never completed and not polled for, as by signalling only
     * some: a completion queue that overruns takes its queue pairs with it.
     */
    public QueuePairOptions<Q> completionQueueMayOverrun() {
        this.mayOverrun = true;
        return this;
    }

    /**
     * Posts requests to send by functions of the queue pair's own, each part of a request by one:
     * {@code ibv_wr_start}, {@code ibv_wr_complete} and those between them. Everything else stays
     * as it is, but a chain is posted as a whole or not at all. Some devices take requests faster
     * so, and some requests only so; each part costs a call from Java. In C: {@code
     * ibv_create_qp_ex}, {@code ibv_qp_to_qp_ex}.
     */
    public QueuePairOptions<Q> extendedPosts() {
        this.postedExtended = true;
        return this;
    }

    /**
     * Lets it write 8 bytes of the peer's memory at once; takes {@link #extendedPosts} along, which
     * are the only way to that. Devices that have it are few. In C: {@code
     * IBV_QP_EX_WITH_ATOMIC_WRITE}.
     */
    public QueuePairOptions<Q> atomicWrites() {
        newerOperations.add(Operation.ATOMIC_WRITE);
        return extendedPosts();
    }

    /**
     * Lets it flush the peer's memory; takes {@link #extendedPosts} along, which are the only way
     * to that. Devices that have it are few. In C: {@code IBV_QP_EX_WITH_FLUSH}.
     */
    public QueuePairOptions<Q> flushes() {
        newerOperations.add(Operation.FLUSH);
        return extendedPosts();
    }

    /**
     * How long an operation that is awaited waits for a free slot before it is posted; 10 seconds
     * by default. A polled one never waits.
     */
    public QueuePairOptions<Q> slotTimeout(Duration timeout) {
        this.slotTimeout = timeout;
        return this;
    }

    Q make(ProtectionDomain domain) throws VerbsException {
        return maker.make(domain, new QueuePairOptions<>(this)); // which nobody changes any more
    }

    QueuePairType type() {
        return type;
    }

    int sends() {
        return sends;
    }

    /** Its own. */
    int receives() {
        return hasReceives() ? receives : 0;
    }

    @Nullable SharedReceiveQueue sharedReceives() {
        return sharedReceives;
    }

    int sendElements() {
        return sendElements;
    }

    int receiveElements() {
        return hasReceives() ? receiveElements : 0;
    }

    private boolean hasReceives() {
        return sharedReceives == null && type != QueuePairType.XRC_SEND;
    }

    int inlineBytes() {
        return inlineBytes;
    }

    int port() {
        return port;
    }

    OptionalInt gidIndex() {
        return gidIndex;
    }

    Duration slotTimeout() {
        return slotTimeout;
    }

    boolean isPostedExtended() {
        return postedExtended;
    }

    /** Those that older libraries do not know. */
    Set<Operation> newerOperations() {
        return newerOperations;
    }

    boolean mayOverrun() {
        return mayOverrun;
    }

    private static int atLeast(int least, int value, String what) {
        if (value < least) {
            throw new IllegalArgumentException(
                    "%s: %d is less than %d".formatted(what, value, least));
        }
        return value;
    }
}
