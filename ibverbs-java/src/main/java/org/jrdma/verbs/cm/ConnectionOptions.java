package org.jrdma.verbs.cm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.xrc.XrcDomain;
import org.jrdma.verbs.xrc.XrcReceiveQueuePair;

/**
 * How a connection is made, and its queue pair. Built by its own methods.
 *
 * @param <Q> the kind of queue pair
 */
public final class ConnectionOptions<Q extends QueuePair> {

    /** What to do with a queue pair before the peer can send to it. */
    @FunctionalInterface
    public interface Preparation<Q extends QueuePair> {
        /** Posts receives, most likely. */
        void prepare(Q queuePair) throws IOException;
    }

    /** How a queue pair is made. */
    @FunctionalInterface
    interface Making<Q extends QueuePair> {
        Q at(int port, ProtectionDomain domain) throws VerbsException;
    }

    private final Making<Q> making;
    private byte[] privateData = {};
    private Preparation<Q> preparation = _ -> {};
    private int maxReads = 16;
    private int maxDestinationReads = 16;
    private int receiverNotReadyTimer = 12;
    private int retries = 7;
    private int receiverNotReadyRetries = 7;
    private OptionalInt acknowledgeTimeout = OptionalInt.empty();
    private OptionalInt typeOfService = OptionalInt.empty();
    private Optional<InetSocketAddress> source = Optional.empty();

    private ConnectionOptions(Making<Q> making) {
        this.making = making;
    }

    /**
     * For a connected queue pair that is made so, a reliable one unless the address was looked up
     * for another. Its port is the one that the address leads to, whatever these options say.
     */
    public static <Q extends QueuePair> ConnectionOptions<Q> of(QueuePairOptions<Q> queuePair) {
        return new ConnectionOptions<>((port, domain) -> domain.newQueuePair(queuePair.port(port)));
    }

    /**
     * For a queue pair that receives for the shared receive queues of an XRC domain, at a listener
     * that was looked up for {@link org.jrdma.verbs.model.QueuePairType#XRC_RECEIVE}. Its peer
     * sends; the numbers of the queues are for the programs to tell, as in the private data.
     */
    public static ConnectionOptions<XrcReceiveQueuePair> receiving(XrcDomain domain) {
        return new ConnectionOptions<>((port, protection) -> {
            var leading = protection.device().name();
            if (!leading.equals(domain.device().name())) {
                throw new VerbsException(
                        "rdma_accept",
                        "The connection is through %s, and %s is of %s"
                                .formatted(leading, domain, domain.device().name()));
            }
            return domain.newReceiveQueuePair(port);
        });
    }

    /**
     * For the peer's program, along with the request or its answer: at most 56 or 196 bytes, 248 on
     * iWARP. It may arrive padded.
     */
    public ConnectionOptions<Q> privateData(byte... data) {
        this.privateData = data.clone();
        return this;
    }

    /**
     * What to do with the queue pair before the peer can send to it. A message that finds no
     * receive is sent again on RoCE and InfiniBand; on iWARP it ends the connection.
     */
    public ConnectionOptions<Q> prepared(Preparation<Q> preparation) {
        this.preparation = preparation;
        return this;
    }

    /**
     * How many reads and atomics to have under way at most. 16 by default, or what the device and
     * the peer can.
     */
    public ConnectionOptions<Q> maxReads(int count) {
        this.maxReads = count;
        return this;
    }

    /**
     * How many reads and atomics of the peer's to answer at a time at most. 16 by default, or what
     * the device can and the peer wants.
     */
    public ConnectionOptions<Q> maxDestinationReads(int count) {
        this.maxDestinationReads = count;
        return this;
    }

    /**
     * How long the peer is told to wait when there is no receive here, in the specification's code.
     * 12 by default, that is 0.64 ms; the kernel's own would be 0, which is 655 ms.
     */
    public ConnectionOptions<Q> receiverNotReadyTimer(int code) {
        this.receiverNotReadyTimer = code;
        return this;
    }

    /**
     * How often to repeat what the peer does not acknowledge, until the queue pair fails: 0 to 7,
     * which is the default. Of the side that connects; the other one's queue pair takes it over.
     */
    public ConnectionOptions<Q> retries(int count) {
        this.retries = checkedRetries(count);
        return this;
    }

    /**
     * How often the peer is to send again what finds no receive here, until its queue pair fails: 0
     * to 6, or 7 for without end, which is the default. Fewer keep a sender from waiting for ever.
     */
    public ConnectionOptions<Q> receiverNotReadyRetries(int count) {
        this.receiverNotReadyRetries = checkedRetries(count);
        return this;
    }

    /**
     * How long the queue pair waits for an acknowledgement before it sends again: 4.096 us times 2
     * to this, 0 to 31, where 0 is without end. Together with {@link #retries} it says how soon a
     * peer is missed that has died without a word: with 14 and 7 that is after half a second or
     * two. By default the connection manager derives it from the path; on RoCE that is 17, eight
     * times half a second. Not on iWARP, which has TCP's; refused with IllegalArgumentException for
     * unreliable connections and for {@link #receiving}, which wait for no acknowledgement. In C:
     * {@code rdma_set_option} with {@code RDMA_OPTION_ID_ACK_TIMEOUT}.
     */
    public ConnectionOptions<Q> acknowledgeTimeout(int exponent) {
        this.acknowledgeTimeout = OptionalInt.of(checked(exponent, 31, "an acknowledge timeout"));
        return this;
    }

    /**
     * The priority of its packets, as in IP: 0 to 255. For who connects by {@link
     * ConnectionManager#connect}: a route has one already, and who accepts takes the peer's. In C:
     * {@code rdma_set_option} with {@code RDMA_OPTION_ID_TOS}.
     */
    public ConnectionOptions<Q> typeOfService(int value) {
        this.typeOfService = OptionalInt.of(checked(value, 255, "a type of service"));
        return this;
    }

    /**
     * From which local address, and so through which device, and from which port, 0 for any. For
     * who connects by {@link ConnectionManager#connect}.
     */
    public ConnectionOptions<Q> from(InetSocketAddress address) {
        this.source = Optional.of(address);
        return this;
    }

    private static int checked(int value, int most, String what) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(
                    "%d is not %s, which is from 0 to %d".formatted(value, what, most));
        }
        return value;
    }

    private static int checkedRetries(int count) {
        if (count < 0 || count > 7) {
            throw new IllegalArgumentException("%d retries are not from 0 to 7".formatted(count));
        }
        return count;
    }

    OptionalInt acknowledgeTimeout() {
        return acknowledgeTimeout;
    }

    OptionalInt typeOfService() {
        return typeOfService;
    }

    Optional<InetSocketAddress> source() {
        return source;
    }

    /**
     * Refuses what should have been known before there was a way to the peer.
     *
     * @param step who has a way
     */
    void refuseWayToPeer(Object step) {
        if (typeOfService.isPresent() || source.isPresent()) {
            throw new IllegalArgumentException(
                    "%s has its source and its type of service already: ConnectionManager.connect takes others"
                            .formatted(step));
        }
    }

    int retries() {
        return retries;
    }

    int receiverNotReadyRetries() {
        return receiverNotReadyRetries;
    }

    Q newQueuePair(int port, ProtectionDomain domain) throws VerbsException {
        return making.at(port, domain);
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

    int receiverNotReadyTimer() {
        return receiverNotReadyTimer;
    }
}
