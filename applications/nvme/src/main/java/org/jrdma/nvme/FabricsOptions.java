package org.jrdma.nvme;

import java.time.Duration;
import org.jrdma.ffi.CheckReturnValue;

/**
 * The options of a drive on a network. Immutable: the methods return a changed copy.
 *
 * @param host the identity of this host
 * @param drive the options that all drives have. Their {@link NvmeOptions#hostIdentifier()} is
 *     replaced by the identifier of the host
 * @param connectTimeout the time in which the target must accept a connection
 * @param keepAlive the time without a sign of life after which the target ends the controller of
 *     this host. The drive sends a sign of life after a third of this time
 * @param reconnectDelay the time after which a lost controller is connected again. It doubles with
 *     each failure, up to ten seconds, which is also the maximum of this option
 * @param lossTimeout the time for which a lost controller is connected again. After that, the drive
 *     has failed
 */
@CheckReturnValue
public record FabricsOptions(
        HostIdentity host,
        NvmeOptions drive,
        Duration connectTimeout,
        Duration keepAlive,
        Duration reconnectDelay,
        Duration lossTimeout) {

    static final Duration MAX_RECONNECT_DELAY = Duration.ofSeconds(10);

    private static final Duration MIN_TIME = Duration.ofMillis(1);
    private static final Duration MAX_KEEP_ALIVE = Duration.ofMillis(Integer.MAX_VALUE);

    /**
     * Creates options.
     *
     * @throws IllegalArgumentException if the keep-alive timeout or the reconnect delay is invalid
     */
    public FabricsOptions {
        check("keep-alive timeout", keepAlive, MAX_KEEP_ALIVE);
        check("reconnect delay", reconnectDelay, MAX_RECONNECT_DELAY);
        drive = drive.hostIdentifier(host.identifier());
    }

    private static void check(String name, Duration value, Duration max) {
        if (value.compareTo(MIN_TIME) < 0 || value.compareTo(max) > 0) {
            throw new IllegalArgumentException(
                    "The %s is %s. It must be from %s to %s."
                            .formatted(name, value, MIN_TIME, max));
        }
    }

    /**
     * Returns options for a host: a connect timeout of 10 seconds, a keep-alive timeout of 5
     * seconds, a reconnect delay of 200 ms, and a loss timeout of 60 seconds.
     */
    public static FabricsOptions of(HostIdentity host) {
        return new FabricsOptions(
                host,
                NvmeOptions.DEFAULTS,
                Duration.ofSeconds(10),
                Duration.ofSeconds(5),
                Duration.ofMillis(200),
                Duration.ofSeconds(60));
    }

    /** Returns a copy with another {@link #drive()}. */
    public FabricsOptions drive(NvmeOptions options) {
        return new FabricsOptions(
                host, options, connectTimeout, keepAlive, reconnectDelay, lossTimeout);
    }

    /** Returns a copy with another {@link #connectTimeout()}. */
    public FabricsOptions connectTimeout(Duration timeout) {
        return new FabricsOptions(host, drive, timeout, keepAlive, reconnectDelay, lossTimeout);
    }

    /** Returns a copy with another {@link #keepAlive()}. */
    public FabricsOptions keepAlive(Duration timeout) {
        return new FabricsOptions(
                host, drive, connectTimeout, timeout, reconnectDelay, lossTimeout);
    }

    /** Returns a copy with another {@link #reconnectDelay()}. */
    public FabricsOptions reconnectDelay(Duration delay) {
        return new FabricsOptions(host, drive, connectTimeout, keepAlive, delay, lossTimeout);
    }

    /** Returns a copy with another {@link #lossTimeout()}. */
    public FabricsOptions lossTimeout(Duration timeout) {
        return new FabricsOptions(host, drive, connectTimeout, keepAlive, reconnectDelay, timeout);
    }
}
