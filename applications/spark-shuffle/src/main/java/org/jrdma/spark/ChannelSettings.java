package org.jrdma.spark;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import org.jrdma.verbs.cm.RdmaChannelOptions;

/**
 * The settings of the channels between executors.
 *
 * <p>The driver creates a token for each application, which executors receive over Spark's own
 * connections and present when they connect. It prevents reads of another application that was
 * given an old address; it does not protect against an attacker who can read the network.
 */
final class ChannelSettings {

    /** The key under which the driver passes the token; Spark hides values of such keys. */
    static final String TOKEN = "token";

    private static final int TOKEN_BYTES = 16;
    private static final int WINDOW = 16;
    private static final int OPERATIONS = 16;

    // A peer counts as lost after several seconds, so that the map tasks are repeated soon.
    private static final int RETRIES = 4;
    private static final Duration ACKNOWLEDGE_TIMEOUT = Duration.ofMillis(500);
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(10);

    private final byte[] token;

    private ChannelSettings(byte[] token) {
        this.token = token;
    }

    static String newToken() {
        var token = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(token);
        return HexFormat.of().formatHex(token);
    }

    static ChannelSettings of(String token) {
        return new ChannelSettings(HexFormat.of().parseHex(token));
    }

    byte[] token() {
        return token.clone();
    }

    /** The options of a channel that this executor accepts. */
    RdmaChannelOptions options() {
        return RdmaChannelOptions.DEFAULT
                .messageBytes(PeerMessage.MAX_BYTES)
                .window(WINDOW)
                .operations(OPERATIONS)
                .acknowledgeTimeout(ACKNOWLEDGE_TIMEOUT)
                .retries(RETRIES)
                .keepAlive(KEEP_ALIVE);
    }

    /** The options of a channel that this executor opens. */
    RdmaChannelOptions connectOptions() {
        return options().privateData(token);
    }
}
