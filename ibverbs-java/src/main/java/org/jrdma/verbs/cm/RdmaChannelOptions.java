package org.jrdma.verbs.cm;

import java.util.OptionalInt;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.QueuePairOptions;

/**
 * How much an {@link RdmaChannel} has room for, and how its connection is made. Built by its own
 * methods. The two sides may differ.
 */
public final class RdmaChannelOptions {

    private int messageBytes = 4096;
    private int window = 64;
    private int operations = 16;
    private byte[] privateData = {};
    private OptionalInt acknowledgeTimeout = OptionalInt.empty();
    private int retries = 7;

    /** As by default. */
    public RdmaChannelOptions() {
        // every member has its value
    }

    /** The longest message that either side can send, as far as the peer says no less; 4096. */
    public RdmaChannelOptions messageBytes(int bytes) {
        messageBytes = atLeastOne(bytes, "message bytes");
        return this;
    }

    /**
     * How many messages of the peer's can be here before the first is handled, and how many of this
     * side's can be under way; 64. Each takes up registered memory as long as the longest message.
     */
    public RdmaChannelOptions window(int messages) {
        window = atLeastOne(messages, "messages");
        return this;
    }

    /** How many reads and writes can be under way; 16. */
    public RdmaChannelOptions operations(int count) {
        operations = atLeastOne(count, "operations");
        return this;
    }

    /**
     * For the peer's program, along with the request or its answer: at most 44 or 184 bytes, 236 on
     * iWARP. It may arrive padded, at {@link RdmaChannel#privateData()} or {@link
     * RdmaChannel#privateData(ConnectionRequest)}.
     */
    public RdmaChannelOptions privateData(byte... data) {
        privateData = data.clone();
        return this;
    }

    /**
     * How long to wait for an acknowledgement before sending again, as {@link
     * ConnectionOptions#acknowledgeTimeout}: how soon a peer is missed that has died without a
     * word.
     */
    public RdmaChannelOptions acknowledgeTimeout(int exponent) {
        acknowledgeTimeout = OptionalInt.of(exponent);
        return this;
    }

    /** How often to send again what is not acknowledged, as {@link ConnectionOptions#retries}. */
    public RdmaChannelOptions retries(int count) {
        retries = count;
        return this;
    }

    /**
     * Checks the length of the private data.
     *
     * @param room for the program's and the channel's own together
     */
    void checkPrivateData(String message, int room) {
        var most = room - ChannelGreeting.BYTES;
        if (privateData.length > most) {
            throw new IllegalArgumentException(
                    "%s of a channel has room for %d bytes of private data, not %d"
                            .formatted(message, most, privateData.length));
        }
    }

    /** Those of the connection below. */
    ConnectionOptions<PolledQueuePair> connection(
            QueuePairOptions<PolledQueuePair> queuePair, ChannelGreeting greeting) {
        var options =
                ConnectionOptions.of(queuePair)
                        .privateData(greeting.followedBy(privateData))
                        .retries(retries);
        acknowledgeTimeout.ifPresent(options::acknowledgeTimeout);
        return options;
    }

    int messageBytes() {
        return messageBytes;
    }

    int window() {
        return window;
    }

    int operations() {
        return operations;
    }

    private static int atLeastOne(int value, String what) {
        if (value < 1) {
            throw new IllegalArgumentException("%s: %d".formatted(what, value));
        }
        return value;
    }
}
