package org.jrdma.verbs.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.channel.ChannelParameters;
import org.jrdma.verbs.cm.channel.MessageRings;
import org.jrdma.verbs.cm.handle.PrivateDataField;
import org.jrdma.verbs.internal.DurationCodes;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Options of an {@link RdmaChannel}: its sizes, and its connection. The two sides may have
 * different options. Each method changes this object and returns it.
 */
public final class RdmaChannelOptions {

    private int messageBytes = 4096;
    private int window = 64;
    private int operations = 16;
    private byte[] privateData = {};
    private int retries = ConnectionOptions.MOST_RETRIES;
    private @Nullable Duration acknowledgeTimeout;
    private @Nullable InetSocketAddress localAddress;

    /** The default options. */
    public RdmaChannelOptions() {
        // each field has its default
    }

    /**
     * Sets the length of the longest message that this side sends and receives; 4096 by default.
     * The lesser value of both sides applies.
     */
    public RdmaChannelOptions messageBytes(int bytes) {
        messageBytes = atLeastOne(bytes, "message bytes");
        return this;
    }

    /**
     * Sets the number of messages that can be in flight in each direction: those that the peer has
     * sent and this side has not handled, and those that this side has sent; 64 by default. Each
     * occupies registered memory for the longest message.
     */
    public RdmaChannelOptions window(int messages) {
        window = atLeastOne(messages, "messages");
        return this;
    }

    /** Sets the number of reads and writes that can be in flight; 16 by default. */
    public RdmaChannelOptions operations(int count) {
        operations = atLeastOne(count, "operations");
        return this;
    }

    /**
     * Sets the private data for the peer's program, which arrives with the request or the reply: at
     * most 44 or 184 bytes, 236 on iWARP. It may arrive padded, at {@link
     * RdmaChannel#privateData()} or {@link RdmaChannel#privateData(ConnectionRequest)}.
     */
    public RdmaChannelOptions privateData(byte... data) {
        privateData = data.clone();
        return this;
    }

    /**
     * Sets the acknowledgement timeout as {@link ConnectionOptions#acknowledgeTimeout} does, which
     * determines together with {@link #retries} when a peer that died without notice is detected.
     */
    public RdmaChannelOptions acknowledgeTimeout(Duration timeout) {
        DurationCodes.acknowledgeTimeout(timeout); // rejects what has no code
        acknowledgeTimeout = timeout;
        return this;
    }

    /**
     * Sets the number of retransmissions of an unacknowledged request, as {@link
     * ConnectionOptions#retries} does.
     */
    public RdmaChannelOptions retries(int count) {
        retries = ConnectionOptions.checkRetries(count);
        return this;
    }

    /**
     * Sets the local address of a channel that connects, as {@link ConnectionOptions#localAddress}
     * does.
     */
    public RdmaChannelOptions localAddress(InetSocketAddress address) {
        localAddress = address;
        return this;
    }

    /** Checks the length of the private data, which follows the parameters of the channel. */
    void checkPrivateData(PrivateDataField field, boolean isWarp) {
        field.check(
                "a channel",
                privateData.length,
                field.bytes(false, isWarp) - ChannelParameters.BYTES);
    }

    MessageRings newRings(ProtectionDomain domain) throws VerbsException {
        return new MessageRings(domain, messageBytes, window, operations);
    }

    /** The options of the underlying connection. */
    ConnectionOptions<PolledQueuePair> connectionOptions(MessageRings rings) {
        var options =
                ConnectionOptions.of(rings.queuePairOptions())
                        .privateData(rings.parameters().encode(privateData))
                        .prepared(rings::postReceives)
                        .retries(retries);
        if (acknowledgeTimeout != null) {
            options.acknowledgeTimeout(acknowledgeTimeout);
        }
        if (localAddress != null) {
            options.localAddress(localAddress);
        }
        return options;
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
