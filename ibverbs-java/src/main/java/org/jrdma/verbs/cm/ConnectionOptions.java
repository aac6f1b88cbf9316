package org.jrdma.verbs.cm;

import java.io.IOException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.VerbsException;
import org.jrdma.verbs.XrcDomain;
import org.jrdma.verbs.XrcReceiveQueuePair;

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
     * that was looked up for {@link org.jrdma.verbs.QueuePairType#XRC_RECEIVE}. Its peer sends; the
     * numbers of the queues are for the programs to tell, as in the private data.
     */
    public static ConnectionOptions<XrcReceiveQueuePair> receiving(XrcDomain domain) {
        return new ConnectionOptions<>((port, _) -> domain.newReceiveQueuePair(port));
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

    private static int checkedRetries(int count) {
        if (count < 0 || count > 7) {
            throw new IllegalArgumentException("%d retries are not from 0 to 7".formatted(count));
        }
        return count;
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
