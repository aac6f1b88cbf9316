package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.QueuePairFunctions;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairAttributes;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A native queue pair: its attributes, its state, and the operations that all kinds of queue pairs
 * have in common.
 */
public final class NativeQueuePair {

    private static final SecureRandom RANDOM = new SecureRandom();

    private final DeviceHandle device;
    private final @Nullable DomainHandle domain;
    private final QueuePairType type;
    private final int port;
    private final NativeResource resource;
    private final int number;
    private final SourceAddress local;
    private final MulticastGroups groups;
    private final PostAndPollFunctions hotPath;
    private final int inlineBytes;
    private final String postFunction;
    private final Set<Operation> newerOperations;
    private final List<? extends WorkQueueSlots> queues;
    private final boolean sharesReceives;
    private final int sendSequence = RANDOM.nextInt(1 << 24);
    private final ReentrantLock modifying = new ReentrantLock();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile boolean canSend;
    private volatile boolean canReceive;

    /**
     * Creates the object for a queue pair of an XRC domain, which has no queues and cannot post
     * requests.
     */
    public NativeQueuePair(
            DeviceHandle device,
            QueuePairType type,
            int port,
            NativeResource resource,
            SourceAddress local) {
        this(
                device,
                null,
                QueuePairConfig.withoutQueues(type, port),
                resource,
                local,
                new MulticastGroups(
                        device.library().datagrams(),
                        resource.address(),
                        resource.lifetime().toString()),
                device.hotPath(),
                0,
                List.of(),
                false);
    }

    NativeQueuePair(
            DeviceHandle device,
            @Nullable DomainHandle domain,
            QueuePairConfig config,
            NativeResource resource,
            SourceAddress local,
            MulticastGroups groups,
            PostAndPollFunctions hotPath,
            int inlineBytes,
            List<? extends WorkQueueSlots> queues,
            boolean sharesReceives) {
        this.device = device;
        this.domain = domain;
        this.type = config.type();
        this.port = config.port();
        this.resource = resource;
        this.number = QueuePairFunctions.number(resource.address());
        this.local = local;
        this.groups = groups;
        this.hotPath = hotPath;
        this.inlineBytes = inlineBytes;
        this.postFunction = config.postFunction();
        this.newerOperations = config.newerOperations();
        this.queues = queues;
        this.sharesReceives = sharesReceives;
    }

    /** Returns the name of a queue pair in messages. */
    public static String name(int number, DeviceHandle device) {
        return "queue pair 0x%06x of %s".formatted(number, device.name());
    }

    public DeviceHandle device() {
        return device;
    }

    /** Returns the protection domain. A queue pair of an XRC domain has none. */
    public DomainHandle domain() {
        return Objects.requireNonNull(domain, "the queue pair has no protection domain");
    }

    public QueuePairType type() {
        return type;
    }

    public int port() {
        return port;
    }

    public MemorySegment address() {
        return resource.address();
    }

    public NativeResource resource() {
        return resource;
    }

    public Lifetime lifetime() {
        return resource.lifetime();
    }

    public int number() {
        return number;
    }

    public SourceAddress local() {
        return local;
    }

    public MulticastGroups groups() {
        return groups;
    }

    public PostAndPollFunctions hotPath() {
        return hotPath;
    }

    public int inlineBytes() {
        return inlineBytes;
    }

    public String postFunction() {
        return postFunction;
    }

    public int sendSequence() {
        return sendSequence;
    }

    /** Returns true if the transport of the device is iWARP. */
    public boolean isIwarp() {
        return device.description().transportType() == TransportType.IWARP;
    }

    public QueuePairState state() {
        return state;
    }

    /** Checks that requests may be posted to the send queue in the current state. */
    public void checkCanSend() throws VerbsException {
        if (!canSend) {
            throw wrongState(
                    postFunction,
                    "sending requires the state READY_TO_SEND or a later one. Connect or activate the queue pair first");
        }
    }

    /**
     * Checks that receives may be posted in the current state.
     *
     * @param function the name of the C function that would post, for the message
     */
    public void checkCanReceive(String function) throws VerbsException {
        if (!canReceive) {
            throw wrongState(
                    function,
                    "receiving requires the state INIT or a later one. Connect, activate or modify the queue pair first");
        }
    }

    /**
     * Creates the exception for a request that is not allowed in the current state.
     *
     * @param function the name of the C function that would post
     * @param needed the required state and the fix
     * @throws IllegalStateException if the queue pair is closed
     */
    public VerbsException wrongState(String function, String needed) {
        if (lifetime().isClosed()) {
            throw lifetime().closedException();
        }
        return new VerbsException(
                function, "%s is in state %s; %s.".formatted(this, state, needed));
    }

    /**
     * Checks that the queue pair supports an operation that is available only on a reliable
     * connection.
     */
    public void checkReliable(Operation operation) {
        var isOffered =
                switch (type) {
                    case RELIABLE_CONNECTION -> true;
                    case XRC_SEND ->
                            operation == Operation.READ
                                    || operation == Operation.COMPARE_AND_SWAP
                                    || operation == Operation.FETCH_AND_ADD;
                    case UNRELIABLE_CONNECTION, UNRELIABLE_DATAGRAM, RAW_PACKET, XRC_RECEIVE ->
                            false;
                };
        if (!isOffered) {
            throw new UnsupportedOperationException(
                    "%s is of the type %s, which does not support %s. Use a reliable connection."
                            .formatted(this, type.description(), operation));
        }
    }

    /** Checks that an optional operation was enabled when the queue pair was created. */
    public void checkMadeFor(Operation operation) {
        if (!newerOperations.contains(operation)) {
            throw new UnsupportedOperationException(
                    "%s does not support %s. Call %s() on its options."
                            .formatted(
                                    this,
                                    operation,
                                    operation == Operation.FLUSH ? "flushes" : "atomicWrites"));
        }
    }

    /**
     * Checks that a request names a receive queue of the peer if, and only if, the queue pair is of
     * type XRC.
     */
    public void checkReceiveQueue(boolean isNamed) {
        if (isNamed != (type == QueuePairType.XRC_SEND)) {
            throw new IllegalArgumentException(
                    isNamed
                            ? "%s is of the type %s, whose requests must not name a receive queue of the peer"
                                    .formatted(this, type.description())
                            : "%s is of the type %s, so each request must name the peer's shared receive queue"
                                    .formatted(this, type.description()));
        }
    }

    /** Checks that the number of a receive queue has at most 24 bits, and returns the number. */
    public static int checkedReceiveQueue(int receiveQueue) {
        if ((receiveQueue & ~0xff_ffff) != 0) {
            throw new IllegalArgumentException(
                    "The number of a receive queue must have at most 24 bits, but is "
                            + receiveQueue);
        }
        return receiveQueue;
    }

    /** Returns the number of requests in flight on all queues. */
    public int outstanding() {
        var outstanding = 0;
        for (var queue : queues) {
            outstanding += queue.outstanding();
        }
        return outstanding;
    }

    /** Queries the attributes of the queue pair from the device. */
    public QueuePairAttributes query() throws VerbsException {
        modifying.lock();
        try {
            return call(this::queryLocked);
        } finally {
            modifying.unlock();
        }
    }

    /**
     * Queries the attributes and updates the recorded state. The caller must hold the lock {@code
     * modifying} and be in a guarded call.
     */
    private QueuePairAttributes queryLocked() throws VerbsException {
        var attributes =
                functions()
                        .query(
                                address(),
                                !isIwarp(),
                                !sharesReceives,
                                CheckedCall.to("ibv_query_qp", () -> "for " + this));
        enter(attributes.state());
        return attributes;
    }

    /**
     * Changes the state or other attributes of the queue pair, after a check against {@link
     * QueuePairTransitionRules}.
     */
    public void modify(QueuePairChange change) throws VerbsException {
        modifying.lock();
        try {
            var from = state;
            var to = change.attributes().contains(QueuePairAttribute.STATE) ? change.state() : from;
            var violation =
                    change.isFromConnectionManager() && isIwarp()
                            ? Optional.<String>empty() // iWARP has other transitions.
                            : QueuePairTransitionRules.violation(
                                    type, from, to, change.attributes());
            if (violation.isPresent()) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "%s: the transition from %s to %s %s."
                                .formatted(this, from, to, violation.get()));
            }
            var outstanding = outstanding();
            if (to == QueuePairState.RESET && outstanding > 0) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "%s: the transition from %s to RESET would discard %d requests without completing them. Drain the queue pair first."
                                .formatted(this, from, outstanding));
            }
            run(() -> functions().modify(address(), change, attempt(from, to, change)));
            enter(to);
        } finally {
            modifying.unlock();
        }
    }

    private CheckedCall attempt(QueuePairState from, QueuePairState to, QueuePairChange change) {
        return new CheckedCall(
                "ibv_modify_qp",
                () ->
                        "for %s from %s to %s with %s, sending from GID %s"
                                .formatted(
                                        this,
                                        from,
                                        to,
                                        change,
                                        local.entry() == null ? "none" : local.entry()),
                errno -> errno == Errno.EINVAL ? adviceOnState(from) : adviceOnAddress(errno));
    }

    /** Returns the advice for the failure of a function that resolves the address of a peer. */
    public static String adviceOnAddress(int errno) {
        return switch (errno) {
            case Errno.ETIMEDOUT, Errno.EHOSTUNREACH, Errno.ENETUNREACH ->
                    "The peer's address could not be resolved on the network.";
            default -> "";
        };
    }

    /**
     * Returns advice that names the actual state of the queue pair if it is not the expected one;
     * otherwise an empty string. A device that detects an error changes the state to ERROR, and
     * then it rejects most transitions.
     */
    private String adviceOnState(QueuePairState expected) {
        try {
            var actual = queryLocked().state();
            return actual == expected
                    ? ""
                    : "The queue pair is in state %s, not %s.".formatted(actual, expected);
        } catch (VerbsException _) {
            return ""; // The caller reports the original failure.
        }
    }

    private void enter(QueuePairState next) {
        state = next;
        canReceive = next != QueuePairState.RESET;
        canSend =
                switch (next) {
                    case READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR, ERROR -> true;
                    case RESET, INIT, READY_TO_RECEIVE, UNKNOWN -> false;
                };
    }

    public QueuePairFunctions functions() {
        return device.library().queuePairs();
    }

    /** Makes a native call. The queue pair is not destroyed during the call. */
    public <T> T call(GuardedCalls.Call<T> call) throws VerbsException {
        return GuardedCalls.call(lifetime(), call);
    }

    /** Makes a native call without a result. The queue pair is not destroyed during the call. */
    public void run(GuardedCalls.Action action) throws VerbsException {
        GuardedCalls.run(lifetime(), action);
    }

    /** Returns the name of the queue pair in messages. */
    @Override
    public String toString() {
        return lifetime().toString();
    }
}
