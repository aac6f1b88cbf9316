package org.jrdma.verbs.cm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.XrcDomain;
import org.jrdma.verbs.XrcReceiveQueuePair;
import org.jrdma.verbs.internal.DurationCodes;
import org.jrdma.verbs.model.VerbsException;

/**
 * Options of a connection and its queue pair. Immutable: each method returns a changed copy.
 *
 * @param <Q> the type of the queue pair
 */
@CheckReturnValue
public final class ConnectionOptions<Q extends QueuePair> {

    static final int MAX_RETRIES = 7;

    /** Code that prepares a queue pair before the peer can send to it. */
    @FunctionalInterface
    public interface Preparation<Q extends QueuePair> {
        /** Prepares the queue pair, typically by posting receives. */
        void prepare(Q queuePair) throws IOException;
    }

    /** Creates a queue pair. */
    @FunctionalInterface
    interface Factory<Q extends QueuePair> {
        Q newQueuePair(int port, ProtectionDomain domain) throws VerbsException;
    }

    private final Factory<Q> factory;
    byte[] privateData = {};
    Preparation<Q> preparation = _ -> {};
    int maxReads = 16;
    int maxDestinationReads = 16;
    Duration receiverNotReadyTimer = Duration.ofNanos(640_000);
    int retries = MAX_RETRIES;
    int receiverNotReadyRetries = MAX_RETRIES;
    Optional<Duration> acknowledgeTimeout = Optional.empty();
    OptionalInt typeOfService = OptionalInt.empty();
    Optional<InetSocketAddress> localAddress = Optional.empty();

    private ConnectionOptions(Factory<Q> factory) {
        this.factory = factory;
    }

    private ConnectionOptions(ConnectionOptions<Q> other) {
        factory = other.factory;
        privateData = other.privateData;
        preparation = other.preparation;
        maxReads = other.maxReads;
        maxDestinationReads = other.maxDestinationReads;
        receiverNotReadyTimer = other.receiverNotReadyTimer;
        retries = other.retries;
        receiverNotReadyRetries = other.receiverNotReadyRetries;
        acknowledgeTimeout = other.acknowledgeTimeout;
        typeOfService = other.typeOfService;
        localAddress = other.localAddress;
    }

    private ConnectionOptions<Q> with(Consumer<ConnectionOptions<Q>> change) {
        var copy = new ConnectionOptions<>(this);
        change.accept(copy);
        return copy;
    }

    /**
     * Returns options of a connection whose queue pair has the given options. The queue pair must
     * be reliable, unless the connection uses an {@link org.jrdma.verbs.cm.model.AddressInfo} for
     * another queue pair type. The route to the peer determines the device port of the queue pair.
     */
    public static <Q extends QueuePair> ConnectionOptions<Q> of(QueuePairOptions<Q> queuePair) {
        return new ConnectionOptions<>((port, domain) -> domain.newQueuePair(queuePair.port(port)));
    }

    /**
     * Returns options of a connection whose queue pair receives messages for the shared receive
     * queues of an XRC domain. The options are valid only for requests to a listener whose address
     * was looked up for {@link org.jrdma.verbs.model.QueuePairType#XRC_RECEIVE}. Only the peer can
     * send. The programs exchange the numbers of the shared receive queues, for example in the
     * private data.
     */
    public static ConnectionOptions<XrcReceiveQueuePair> xrcReceive(XrcDomain domain) {
        return new ConnectionOptions<>((port, protectionDomain) -> {
            var device = protectionDomain.device().name();
            if (!device.equals(domain.deviceName())) {
                throw new VerbsException(
                        "rdma_accept",
                        "The connection uses device %s, but %s belongs to device %s"
                                .formatted(device, domain, domain.deviceName()));
            }
            return domain.newReceiveQueuePair(port);
        });
    }

    /**
     * Sets the private data for the peer's program: at most 56 bytes when connecting, 196 bytes
     * when accepting, 248 bytes on iWARP. The peer may receive the private data with padding; see
     * {@link org.jrdma.verbs.cm.model.PrivateData}.
     */
    public ConnectionOptions<Q> privateData(byte... data) {
        return with(copy -> copy.privateData = data.clone());
    }

    /**
     * Sets the code that prepares the queue pair before the peer can send to it. Typically, this
     * code posts receives. If a message arrives when no receive is posted, the peer retransmits it
     * on RoCE and InfiniBand, but the connection fails on iWARP.
     */
    public ConnectionOptions<Q> prepared(Preparation<Q> preparation) {
        return with(copy -> copy.preparation = preparation);
    }

    /**
     * Sets the maximum number of reads and atomics that this side has in flight as the requester: 0
     * to 255, 16 by default. The device and the peer can lower the number.
     */
    public ConnectionOptions<Q> maxReads(int count) {
        checkReads(count);
        return with(copy -> copy.maxReads = count);
    }

    /**
     * Sets the maximum number of reads and atomics from the peer that this side processes at a time
     * as the responder: 0 to 255, 16 by default. The device and the peer can lower the number.
     */
    public ConnectionOptions<Q> maxDestinationReads(int count) {
        checkReads(count);
        return with(copy -> copy.maxDestinationReads = count);
    }

    private static void checkReads(int count) {
        FieldRangeChecks.check("number of reads", count, 0, 255);
    }

    /**
     * Sets the time that the peer waits before it retransmits a message for which this side had
     * posted no receive: 0.64 ms by default, 655.36 ms at most. The time is rounded up to a value
     * that the protocol can represent: 0.01 ms, 0.02 ms, 0.03 ms, 0.04 ms, 0.06 ms, 0.08 ms, and so
     * on.
     *
     * @throws IllegalArgumentException if the duration is zero, negative, or longer than 655.36 ms
     */
    public ConnectionOptions<Q> receiverNotReadyTimer(Duration timer) {
        DurationCodes.receiverNotReadyTimer(timer); // Throws if the time is invalid.
        return with(copy -> copy.receiverNotReadyTimer = timer);
    }

    /**
     * Sets the number of times that an unacknowledged request is retransmitted before the queue
     * pair fails: 0 to 7, 7 by default. The connecting side determines the number for both queue
     * pairs.
     */
    public ConnectionOptions<Q> retries(int count) {
        return with(copy -> copy.retries = checkRetries(count));
    }

    /**
     * Sets the number of times that the peer retransmits a message for which this side has posted
     * no receive before the peer's queue pair fails: 0 to 6, or 7 for no limit, which is the
     * default.
     */
    public ConnectionOptions<Q> receiverNotReadyRetries(int count) {
        return with(copy -> copy.receiverNotReadyRetries = checkRetries(count));
    }

    /**
     * Sets the time after which the queue pair retransmits an unacknowledged request. By default,
     * the connection manager derives the timeout from the path; on RoCE, it is 537 ms.
     *
     * <p>The timeout and the number of {@link #retries} determine how long it takes to detect a
     * peer that crashed: with 67 ms and 7 retries, half a second to two seconds.
     *
     * <p>The timeout is rounded up to a value that the protocol can represent: 4.096 us times a
     * power of two, from 8.2 us to 8,796 s. A longer time disables the timeout. On iWARP, this
     * option has no effect because TCP determines the timeout. Connecting or accepting throws
     * IllegalArgumentException if this option is set for an unreliable connection or for {@link
     * #xrcReceive}, which receive no acknowledgements. In C: {@code rdma_set_option} with {@code
     * RDMA_OPTION_ID_ACK_TIMEOUT}.
     *
     * @throws IllegalArgumentException if the duration is zero or negative
     */
    public ConnectionOptions<Q> acknowledgeTimeout(Duration timeout) {
        DurationCodes.acknowledgeTimeout(timeout); // Throws if the timeout is invalid.
        return with(copy -> copy.acknowledgeTimeout = Optional.of(timeout));
    }

    /**
     * Sets the IP type of service of the packets: 0 to 255. This option is valid only for {@link
     * ConnectionManager#connect}, because a {@link Route} already has a type of service, and the
     * accepting side uses the type of service of its peer. In C: {@code rdma_set_option} with
     * {@code RDMA_OPTION_ID_TOS}.
     *
     * @throws IllegalArgumentException if the value is out of range
     */
    public ConnectionOptions<Q> typeOfService(int value) {
        checkTypeOfService(value);
        return with(copy -> copy.typeOfService = OptionalInt.of(value));
    }

    /**
     * Sets the local address and port. The address determines the local device; port 0 selects a
     * free port. This option is valid only for {@link ConnectionManager#connect}. By default, the
     * system chooses the address; if that address belongs to a device other than that of the
     * protection domain, {@link ConnectionManager#connect} uses an address of the domain's device
     * if one is known.
     */
    public ConnectionOptions<Q> localAddress(InetSocketAddress address) {
        return with(copy -> copy.localAddress = Optional.of(address));
    }

    static void checkTypeOfService(int value) {
        if (value < 0 || value > 255) {
            throw new IllegalArgumentException(
                    "Type of service %d is not in the range 0 to 255".formatted(value));
        }
    }

    static int checkRetries(int count) {
        if (count < 0 || count > MAX_RETRIES) {
            throw new IllegalArgumentException(
                    "Number of retries %d is not in the range 0 to %d"
                            .formatted(count, MAX_RETRIES));
        }
        return count;
    }

    /**
     * Fails if options are set that take effect only before the path to the peer is resolved.
     *
     * @param resolved the route or connect request, which the exception message names
     */
    void rejectPathOptions(Object resolved) {
        if (typeOfService.isPresent() || localAddress.isPresent()) {
            throw new IllegalArgumentException(
                    "Cannot set a local address or type of service for %s, which already has both. Use these options with ConnectionManager.connect() only."
                            .formatted(resolved));
        }
    }

    Q newQueuePair(int port, ProtectionDomain domain) throws VerbsException {
        return factory.newQueuePair(port, domain);
    }
}
