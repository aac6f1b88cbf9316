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
import org.jrdma.verbs.handle.HeldCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.Attempt;
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
    private final LocalAddress local;
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
    private volatile boolean takesSends;
    private volatile boolean takesReceives;

    /** A queue pair that was made with a configuration. */
    NativeQueuePair(
            DomainHandle domain,
            QueuePairConfig config,
            NativeResource resource,
            LocalAddress local,
            MulticastGroups groups,
            HotPath hotPath,
            int inlineBytes,
            List<? extends WorkQueue> queues,
            boolean sharesReceives) {
        this(
                domain.device(),
                domain,
                config.type(),
                config.port(),
                resource,
                local,
                groups,
                hotPath,
                inlineBytes,
                config.postFunction(),
                config.newerOperations(),
                queues,
                sharesReceives);
    }

    /** A queue pair of an XRC domain, which has no protection domain and posts nothing. */
    public NativeQueuePair(
            DeviceHandle device,
            QueuePairType type,
            int port,
            NativeResource resource,
            LocalAddress local) {
        this(
                device,
                null,
                type,
                port,
                resource,
                local,
                new MulticastGroups(
                        device.library().datagrams(),
                        resource.address(),
                        resource.lifetime().toString()),
                device.hotPath(),
                0,
                "ibv_post_send",
                Set.of(),
                List.of(),
                false);
    }

    private NativeQueuePair(
            DeviceHandle device,
            @Nullable DomainHandle domain,
            QueuePairType type,
            int port,
            NativeResource resource,
            LocalAddress local,
            MulticastGroups groups,
            HotPath hotPath,
            int inlineBytes,
            String postFunction,
            Set<Operation> newerOperations,
            List<? extends WorkQueue> queues,
            boolean sharesReceives) {
        this.device = device;
        this.domain = domain;
        this.type = type;
        this.port = port;
        this.resource = resource;
        this.number = QueuePairFunctions.number(resource.address());
        this.local = local;
        this.groups = groups;
        this.hotPath = hotPath;
        this.inlineBytes = inlineBytes;
        this.postFunction = postFunction;
        this.newerOperations = newerOperations;
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

    /** The protection domain of a queue pair that has one. */
    public DomainHandle domain() {
        return Objects.requireNonNull(domain, "of no protection domain");
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

    public LocalAddress local() {
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

    /** Whether the device speaks iWARP. */
    public boolean isWarp() {
        return device.description().transportType() == TransportType.IWARP;
    }

    public QueuePairState state() {
        return state;
    }

    public boolean takesSends() {
        return takesSends;
    }

    public boolean takesReceives() {
        return takesReceives;
    }

    /** Refuses a request to send in a state that does not take it. */
    public void checkTakesSends() throws VerbsException {
        if (!takesSends) {
            throw wrongState(
                    postFunction,
                    "requests to send are taken from READY_TO_SEND on; connect it first");
        }
    }

    /** Refuses a receive in a state that does not take it. */
    public void checkTakesReceives(String function) throws VerbsException {
        if (!takesReceives) {
            throw wrongState(
                    function,
                    "receives are taken from INIT on, where connect or activate brings it");
        }
    }

    /**
     * The exception for a request that is not taken.
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

    /** Refuses an operation that only reliable connections have. */
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
                    "%s is of the type %s, which has no %s; a reliable connection has"
                            .formatted(this, type.description(), operation));
        }
    }

    /** Refuses an operation that the queue pair has to be made for. */
    public void checkMadeFor(Operation operation) {
        if (!newerOperations.contains(operation)) {
            throw new UnsupportedOperationException(
                    "%s was not made for %s: its options have to say %s()"
                            .formatted(
                                    this,
                                    operation,
                                    operation == Operation.FLUSH ? "flushes" : "atomicWrites"));
        }
    }

    /**
     * Refuses a request that names a receive queue of the peer, and should not, or that does not
     * name one, and should.
     */
    public void checkReceiveQueue(boolean isNamed) {
        if (isNamed != (type == QueuePairType.XRC_SEND)) {
            throw new IllegalArgumentException(
                    isNamed
                            ? "%s is of the type %s, whose requests name no receive queue of the peer"
                                    .formatted(this, type.description())
                            : "%s is of the type %s: each request must name the peer's shared receive queue by its number"
                                    .formatted(this, type.description()));
        }
    }

    /** Refuses a number that no receive queue has, and returns any other. */
    public static int checkedReceiveQueue(int receiveQueue) {
        if ((receiveQueue & ~0xff_ffff) != 0) {
            throw new IllegalArgumentException(
                    "The number of a receive queue has 24 bits, unlike " + receiveQueue);
        }
        return receiveQueue;
    }

    /** How many requests are in flight. */
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

    /** For a caller that modifies the queue pair, and is in a call. */
    private QueuePairAttributes ask() throws VerbsException {
        var attributes =
                functions()
                        .query(
                                address(),
                                !isWarp(),
                                !sharesReceives,
                                Attempt.to("ibv_query_qp", () -> "for " + this));
        enter(attributes.state());
        return attributes;
    }

    /** Makes a step of the state machine, or changes attributes. */
    public void modify(QueuePairChange change) throws VerbsException {
        modifying.lock();
        try {
            var from = state;
            var to = change.attributes().contains(QueuePairAttribute.STATE) ? change.state() : from;
            var objection =
                    change.isOfConnectionManager() && isWarp()
                            ? Optional.<String>empty() // its steps are TCP's
                            : QueuePairTransition.objection(type, from, to, change.attributes());
            if (objection.isPresent()) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "%s: the step from %s to %s %s."
                                .formatted(this, from, to, objection.get()));
            }
            var outstanding = outstanding();
            if (to == QueuePairState.RESET && outstanding > 0) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "%s: the step from %s to RESET would lose %d requests without completing them; drain it first."
                                .formatted(this, from, outstanding));
            }
            run(() -> functions().modify(address(), change, attempt(from, to, change)));
            enter(to);
        } finally {
            modifying.unlock();
        }
    }

    private Attempt attempt(QueuePairState from, QueuePairState to, QueuePairChange change) {
        return new Attempt(
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

    /** Advice for functions that resolve an address. */
    public static String adviceOnAddress(int errno) {
        return switch (errno) {
            case Errno.ETIMEDOUT, Errno.EHOSTUNREACH, Errno.ENETUNREACH ->
                    "The peer's address was not found on the network.";
            default -> "";
        };
    }

    /** A device that finds an error goes to the error state by itself, and refuses most steps. */
    private String presentState(QueuePairState believed) {
        try {
            var present = ask().state();
            return present == believed
                    ? ""
                    : "The device has it in state %s, not %s.".formatted(present, believed);
        } catch (VerbsException _) {
            return ""; // the first refusal is the one to report
        }
    }

    private void enter(QueuePairState next) {
        state = next;
        takesReceives = next != QueuePairState.RESET;
        takesSends =
                switch (next) {
                    case READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR, ERROR -> true;
                    case RESET, INIT, READY_TO_RECEIVE, UNKNOWN -> false;
                };
    }

    public QueuePairFunctions functions() {
        return device.library().queuePairs();
    }

    /** Makes a native call during which the queue pair must stay open. */
    public <T> T call(HeldCalls.Call<T> call) throws VerbsException {
        return HeldCalls.call(lifetime(), call);
    }

    /** Makes a native call without a result during which the queue pair must stay open. */
    public void run(HeldCalls.Action action) throws VerbsException {
        HeldCalls.run(lifetime(), action);
    }

    /** The name of the queue pair in messages. */
    @Override
    public String toString() {
        return lifetime().toString();
    }
}
