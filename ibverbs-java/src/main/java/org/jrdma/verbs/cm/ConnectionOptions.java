package org.jrdma.verbs.cm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.internal.DurationCodes;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.xrc.XrcDomain;
import org.jrdma.verbs.xrc.XrcReceiveQueuePair;

/**
 * Options of a connection and its queue pair. Each method changes this object and returns it.
 *
 * @param <Q> the kind of queue pair
 */
public final class ConnectionOptions<Q extends QueuePair> {

    static final int MOST_RETRIES = 7;

    /** Prepares a queue pair before the peer can send to it. */
    @FunctionalInterface
    public interface Preparation<Q extends QueuePair> {
        /** Prepares the queue pair, usually by posting receives. */
        void prepare(Q queuePair) throws IOException;
    }

    /** Creates a queue pair. */
    @FunctionalInterface
    interface Factory<Q extends QueuePair> {
        Q newQueuePair(int port, ProtectionDomain domain) throws VerbsException;
    }

    private final Factory<Q> factory;
    private byte[] privateData = {};
    private Preparation<Q> preparation = _ -> {};
    private int maxReads = 16;
    private int maxDestinationReads = 16;
    private Duration receiverNotReadyTimer = Duration.ofNanos(640_000);
    private int retries = MOST_RETRIES;
    private int receiverNotReadyRetries = MOST_RETRIES;
    private Optional<Duration> acknowledgeTimeout = Optional.empty();
    private OptionalInt typeOfService = OptionalInt.empty();
    private Optional<InetSocketAddress> localAddress = Optional.empty();

    private ConnectionOptions(Factory<Q> factory) {
        this.factory = factory;
    }

    /**
     * Options of a connection with a queue pair of these options. The queue pair must be a reliable
     * one unless the address was looked up for another type. Its port is the one that leads to the
     * peer.
     */
    public static <Q extends QueuePair> ConnectionOptions<Q> of(QueuePairOptions<Q> queuePair) {
        return new ConnectionOptions<>((port, domain) -> domain.newQueuePair(queuePair.port(port)));
    }

    /**
     * Options of a connection with a queue pair that receives for the shared receive queues of an
     * XRC domain. For a listener that was looked up for {@link
     * org.jrdma.verbs.model.QueuePairType#XRC_RECEIVE}; its peer sends. The programs exchange the
     * numbers of the queues, for example in the private data.
     */
    public static ConnectionOptions<XrcReceiveQueuePair> receiving(XrcDomain domain) {
        return new ConnectionOptions<>((port, protection) -> {
            var device = protection.device().name();
            if (!device.equals(domain.device().name())) {
                throw new VerbsException(
                        "rdma_accept",
                        "The connection is through %s, and %s is of %s"
                                .formatted(device, domain, domain.device().name()));
            }
            return domain.newReceiveQueuePair(port);
        });
    }

    /**
     * Sets the private data for the peer's program, which arrives with the request or the reply: at
     * most 56 or 196 bytes, 248 on iWARP. It may arrive padded.
     */
    public ConnectionOptions<Q> privateData(byte... data) {
        this.privateData = data.clone();
        return this;
    }

    /**
     * Sets the preparation of the queue pair before the peer can send to it. On RoCE and
     * InfiniBand, a message that finds no receive is retransmitted; on iWARP it ends the
     * connection.
     */
    public ConnectionOptions<Q> prepared(Preparation<Q> preparation) {
        this.preparation = preparation;
        return this;
    }

    /**
     * Sets the maximum of reads and atomics that this side has in flight: 16 by default, or fewer
     * if the device or the peer supports fewer.
     */
    public ConnectionOptions<Q> maxReads(int count) {
        this.maxReads = count;
        return this;
    }

    /**
     * Sets the maximum of the peer's reads and atomics that this side answers at a time: 16 by
     * default, or fewer if the device supports or the peer asks for fewer.
     */
    public ConnectionOptions<Q> maxDestinationReads(int count) {
        this.maxDestinationReads = count;
        return this;
    }

    /**
     * Sets the time that the peer waits before it retransmits a message that found no receive here:
     * 0.64 ms by default, 655.36 ms at most. Rounded up to a value that the protocol can represent:
     * 0.01 ms, 0.02 ms, 0.03 ms, 0.04 ms, 0.06 ms, and so on, in steps of at most 50%.
     *
     * @throws IllegalArgumentException if the duration is zero, negative, or longer
     */
    public ConnectionOptions<Q> receiverNotReadyTimer(Duration timer) {
        DurationCodes.receiverNotReadyTimer(timer); // rejects what has no code
        this.receiverNotReadyTimer = timer;
        return this;
    }

    /**
     * Sets the number of retransmissions of what the peer does not acknowledge, before the queue
     * pair fails: 0 to 7, 7 by default. Applies on the side that connects; the other side's queue
     * pair takes it over.
     */
    public ConnectionOptions<Q> retries(int count) {
        this.retries = checkRetries(count);
        return this;
    }

    /**
     * Sets the number of times that the peer retransmits a message that finds no receive here,
     * before its queue pair fails: 0 to 6, or 7 for no limit, which is the default.
     */
    public ConnectionOptions<Q> receiverNotReadyRetries(int count) {
        this.receiverNotReadyRetries = checkRetries(count);
        return this;
    }

    /**
     * Sets the time after which the queue pair retransmits what the peer has not acknowledged.
     * Together with {@link #retries} it determines when a peer that died without notice is
     * detected: with 67 ms and 7 retries after half a second to two seconds. By default the
     * connection manager derives it from the path; on RoCE it is 537 ms then.
     *
     * <p>Rounded up to a value that the protocol can represent, which is 4.096 us times a power of
     * two: 8.2 us, ..., 67.1 ms, 134 ms, ..., 8,796 s. A longer duration disables the timeout.
     * Without effect on iWARP, where TCP determines it. Refused with IllegalArgumentException for
     * unreliable connections and for {@link #receiving}, which wait for no acknowledgement. In C:
     * {@code rdma_set_option} with {@code RDMA_OPTION_ID_ACK_TIMEOUT}.
     *
     * @throws IllegalArgumentException if the duration is zero or negative
     */
    public ConnectionOptions<Q> acknowledgeTimeout(Duration timeout) {
        DurationCodes.acknowledgeTimeout(timeout); // rejects what has no code
        this.acknowledgeTimeout = Optional.of(timeout);
        return this;
    }

    /**
     * Sets the priority of the packets, as in IP: 0 to 255. Applies to {@link
     * ConnectionManager#connect}; a route has a type of service already, and a side that accepts
     * takes that of the peer. In C: {@code rdma_set_option} with {@code RDMA_OPTION_ID_TOS}.
     */
    public ConnectionOptions<Q> typeOfService(int value) {
        checkTypeOfService(value);
        this.typeOfService = OptionalInt.of(value);
        return this;
    }

    /**
     * Sets the local address, which determines the local device, and the local port, where 0 is a
     * free port. Applies to {@link ConnectionManager#connect}. By default the system chooses an
     * address, or {@link ConnectionManager#connect} takes one of the protection domain's device.
     */
    public ConnectionOptions<Q> localAddress(InetSocketAddress address) {
        this.localAddress = Optional.of(address);
        return this;
    }

    static void checkTypeOfService(int value) {
        if (value < 0 || value > 255) {
            throw new IllegalArgumentException(
                    "%d is not a type of service, which is from 0 to 255".formatted(value));
        }
    }

    static int checkRetries(int count) {
        if (count < 0 || count > MOST_RETRIES) {
            throw new IllegalArgumentException("%d retries are not from 0 to 7".formatted(count));
        }
        return count;
    }

    /**
     * Rejects options that would have been needed before the path to the peer was found.
     *
     * @param step the object that has a path
     */
    void refusePath(Object step) {
        if (typeOfService.isPresent() || localAddress.isPresent()) {
            throw new IllegalArgumentException(
                    "%s has its source and its type of service already: ConnectionManager.connect takes others"
                            .formatted(step));
        }
    }

    Optional<Duration> acknowledgeTimeout() {
        return acknowledgeTimeout;
    }

    OptionalInt typeOfService() {
        return typeOfService;
    }

    Optional<InetSocketAddress> localAddress() {
        return localAddress;
    }

    int retries() {
        return retries;
    }

    int receiverNotReadyRetries() {
        return receiverNotReadyRetries;
    }

    Q newQueuePair(int port, ProtectionDomain domain) throws VerbsException {
        return factory.newQueuePair(port, domain);
    }

    byte[] privateData() {
        return privateData;
    }

    Preparation<Q> preparation() {
        return preparation;
    }

    int maxReads() {
        return maxReads;
    }

    int maxDestinationReads() {
        return maxDestinationReads;
    }

    /** The code of the protocol for the receiver-not-ready timer. */
    int receiverNotReadyTimerCode() {
        return DurationCodes.receiverNotReadyTimer(receiverNotReadyTimer);
    }
}
