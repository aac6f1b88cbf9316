package org.jrdma.verbs.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.channel.ChannelParameters;
import org.jrdma.verbs.cm.channel.MessageRings;
import org.jrdma.verbs.cm.handle.PrivateDataSizes;
import org.jrdma.verbs.internal.DurationCodes;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Options of an {@link RdmaChannel} and its connection. The two sides may use different options.
 * Immutable: each method returns a changed copy.
 */
@CheckReturnValue
public final class RdmaChannelOptions {

    private static final int MAX_MESSAGE_BYTES = 1 << 30;
    private static final int MAX_REQUESTS = 1 << 16;

    /** The default options. */
    public static final RdmaChannelOptions DEFAULT = new RdmaChannelOptions();

    private int messageBytes = 4096;
    private int window = 64;
    int operations = 16;
    @Nullable Duration keepAlive;
    private byte[] privateData = {};
    private int retries = ConnectionOptions.MAX_RETRIES;
    private @Nullable Duration acknowledgeTimeout;
    private @Nullable InetSocketAddress localAddress;

    private RdmaChannelOptions() {}

    private RdmaChannelOptions(RdmaChannelOptions other) {
        messageBytes = other.messageBytes;
        window = other.window;
        operations = other.operations;
        keepAlive = other.keepAlive;
        privateData = other.privateData;
        retries = other.retries;
        acknowledgeTimeout = other.acknowledgeTimeout;
        localAddress = other.localAddress;
    }

    private RdmaChannelOptions with(Consumer<RdmaChannelOptions> change) {
        var copy = new RdmaChannelOptions(this);
        change.accept(copy);
        return copy;
    }

    /**
     * Sets the maximum length of a message in bytes; 4096 by default, at most 1 GiB. If the two
     * sides have different values, the smaller value applies to both.
     */
    public RdmaChannelOptions messageBytes(int bytes) {
        return with(copy ->
                copy.messageBytes =
                        FieldRangeChecks.check(
                                "number of message bytes", bytes, 1, MAX_MESSAGE_BYTES));
    }

    /**
     * Sets the number of messages that can be in flight in each direction; 64 by default, at most
     * 65,536. A message is in flight until the receiver has handled it. For each message, the
     * channel allocates registered memory of the maximum message length.
     */
    public RdmaChannelOptions window(int messages) {
        return with(copy ->
                copy.window =
                        FieldRangeChecks.check("number of messages", messages, 1, MAX_REQUESTS));
    }

    /**
     * Sets the maximum number of remote reads and writes in flight; 16 by default, at most 65,536.
     */
    public RdmaChannelOptions operations(int count) {
        return with(copy ->
                copy.operations =
                        FieldRangeChecks.check("number of operations", count, 1, MAX_REQUESTS));
    }

    /**
     * Enables the keep-alive: if nothing has completed for {@code interval} while a thread calls
     * {@link RdmaChannel#await} or {@link RdmaChannel#poll}, the channel verifies that the peer's
     * device responds. If the device does not, the channel ends with the cause {@link
     * TerminationCause.Cause#LOST} after the last retransmission has timed out, as if this side had
     * sent a message; see {@link #acknowledgeTimeout} and {@link #retries}. The peer's program does
     * not notice the check and may use other options. There is no keep-alive by default.
     *
     * @throws IllegalArgumentException if the interval is not positive
     */
    public RdmaChannelOptions keepAlive(Duration interval) {
        if (!interval.isPositive()) {
            throw new IllegalArgumentException(
                    "The interval of the keep-alive must be positive: " + interval);
        }
        return with(copy -> copy.keepAlive = interval);
    }

    /**
     * Sets the private data for the peer's program: at most 44 bytes when connecting, 184 bytes
     * when accepting, 236 bytes on iWARP. The peer receives the data, possibly with padding, from
     * {@link RdmaChannel#privateData()} or {@link ConnectionRequest#channelPrivateData()}.
     */
    public RdmaChannelOptions privateData(byte... data) {
        return with(copy -> copy.privateData = data.clone());
    }

    /**
     * Sets the acknowledge timeout; see {@link ConnectionOptions#acknowledgeTimeout}. The timeout
     * and the number of {@link #retries} determine how long it takes to detect a crashed peer.
     */
    public RdmaChannelOptions acknowledgeTimeout(Duration timeout) {
        DurationCodes.acknowledgeTimeout(timeout); // Throws if the timeout is invalid.
        return with(copy -> copy.acknowledgeTimeout = timeout);
    }

    /**
     * Sets the number of retransmissions of an unacknowledged request; see {@link
     * ConnectionOptions#retries}.
     */
    public RdmaChannelOptions retries(int count) {
        return with(copy -> copy.retries = ConnectionOptions.checkRetries(count));
    }

    /**
     * Sets the local address of the connecting side; see {@link ConnectionOptions#localAddress}.
     */
    public RdmaChannelOptions localAddress(InetSocketAddress address) {
        return with(copy -> copy.localAddress = address);
    }

    /**
     * Checks the length of the private data. The channel parameters precede the data in the same
     * message field and reduce the limit.
     */
    void checkPrivateData(PrivateDataSizes field, boolean isIwarp) {
        field.check(
                "a channel",
                privateData.length,
                field.bytes(false, isIwarp) - ChannelParameters.BYTES);
    }

    MessageRings newRings(ProtectionDomain domain) throws VerbsException {
        var probes = keepAlive == null ? 0 : 1;
        return new MessageRings(domain, messageBytes, window, operations + probes);
    }

    /** Returns the options of the underlying connection. */
    ConnectionOptions<PolledQueuePair> connectionOptions(MessageRings rings) {
        var options =
                ConnectionOptions.of(rings.queuePairOptions())
                        .privateData(rings.parameters().encode(privateData))
                        .prepared(rings::postReceives)
                        .retries(retries);
        if (acknowledgeTimeout != null) {
            options = options.acknowledgeTimeout(acknowledgeTimeout);
        }
        if (localAddress != null) {
            options = options.localAddress(localAddress);
        }
        return options;
    }
}
