package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.HotPath;
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

/** A native queue pair: its state and its operations. */
public final class NativeQueuePair {

    private final DeviceHandle device;
    private final @Nullable DomainHandle domain;
    private final QueuePairType type;
    private final int port;
    private final NativeResource resource;
    private final int number;
    private final SourceAddress local;
    private final MulticastGroups groups;
    private final HotPath hotPath;
    private final int inlineBytes;
    private final String postFunction;
    private final Set<Operation> newerOperations;
    private final List<? extends WorkQueue> queues;
    private final boolean sharesReceives;
    private final int sendSequence = ThreadLocalRandom.current().nextInt(1 << 24);
    private final ReentrantLock modifying = new ReentrantLock();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile boolean canSend;
    private volatile boolean canReceive;

    /** Creates a queue pair of an XRC domain, which cannot post requests. */
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
            HotPath hotPath,
            int inlineBytes,
            List<? extends WorkQueue> queues,
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

    /** The name of a queue pair in messages. */
    public static String name(int number, DeviceHandle device) {
        return "queue pair 0x%06x of %s".formatted(number, device.name());
    }

    public DeviceHandle device() {
        return device;
    }

    /** The protection domain. Not for queue pairs of an XRC domain. */
    public DomainHandle domain() {
        return Objects.requireNonNull(domain, "no protection domain");
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

    public HotPath hotPath() {
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

    /** Checks that the state allows posting to the send queue. */
    public void checkCanSend() throws VerbsException {
        if (!canSend) {
            throw wrongState(
                    postFunction,
                    "sending requires the state READY_TO_SEND or a later one. Connect or activate the queue pair first");
        }
    }

    /** Checks that the state allows posting receives. */
    public void checkCanReceive(String function) throws VerbsException {
        if (!canReceive) {
            throw wrongState(
                    function,
                    "receiving requires the state INIT or a later one. Connect, activate or modify the queue pair first");
        }
    }

    /**
     * The exception for a request that the state does not allow.
     *
     * @throws IllegalStateException if the queue pair is closed
     */
    public VerbsException wrongState(String function, String needed) {
        if (lifetime().isClosed()) {
            throw lifetime().closedException();
        }
        return new VerbsException(
                function, "%s is in state %s; %s.".formatted(this, state, needed));
    }

    /** Checks that the queue pair supports an operation that requires a reliable connection. */
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

    /** Checks that the queue pair was created with an optional operation. */
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
     * Checks that a request names a receive queue of the peer if and only if the type of the queue
     * pair requires it.
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

    /** Checks that the number of a receive queue has at most 24 bits, and returns it. */
    public static int checkedReceiveQueue(int receiveQueue) {
        if ((receiveQueue & ~0xff_ffff) != 0) {
            throw new IllegalArgumentException(
                    "The number of a receive queue must have at most 24 bits, but is "
                            + receiveQueue);
        }
        return receiveQueue;
    }

    /** The number of requests in flight. */
    public int outstanding() {
        var outstanding = 0;
        for (var queue : queues) {
            outstanding += queue.outstanding();
        }
        return outstanding;
    }

    /** Asks the device for the attributes. */
    public QueuePairAttributes query() throws VerbsException {
        modifying.lock();
        try {
            return call(this::ask);
        } finally {
            modifying.unlock();
        }
    }

    /** Queries the attributes. The caller must hold the lock and be in a guarded call. */
    private QueuePairAttributes ask() throws VerbsException {
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

    /** Performs a state transition or changes attributes. */
    public void modify(QueuePairChange change) throws VerbsException {
        modifying.lock();
        try {
            var from = state;
            var to = change.attributes().contains(QueuePairAttribute.STATE) ? change.state() : from;
            var violation =
                    change.isFromConnectionManager() && isIwarp()
                            ? Optional.<String>empty() // iWARP transitions differ
                            : QueuePairTransition.violation(type, from, to, change.attributes());
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
                errno -> errno == Errno.EINVAL ? presentState(from) : adviceOnAddress(errno));
    }

    /** Returns the remedy for an errno of a function that resolves an address. */
    public static String adviceOnAddress(int errno) {
        return switch (errno) {
            case Errno.ETIMEDOUT, Errno.EHOSTUNREACH, Errno.ENETUNREACH ->
                    "The peer's address could not be resolved on the network.";
            default -> "";
        };
    }

    /**
     * Reports the actual state, because a device that detects an error moves to the error state and
     * then rejects most transitions.
     */
    private String presentState(QueuePairState believed) {
        try {
            var present = ask().state();
            return present == believed
                    ? ""
                    : "The queue pair is in state %s, not %s.".formatted(present, believed);
        } catch (VerbsException _) {
            return ""; // the original failure is reported
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

    /** Runs a native call during which the queue pair must stay open. */
    public <T> T call(GuardedCalls.Call<T> call) throws VerbsException {
        return GuardedCalls.call(lifetime(), call);
    }

    /** Runs a native call without a result during which the queue pair must stay open. */
    public void run(GuardedCalls.Action action) throws VerbsException {
        GuardedCalls.run(lifetime(), action);
    }

    /** The name of the queue pair in messages. */
    @Override
    public String toString() {
        return lifetime().toString();
    }
}
