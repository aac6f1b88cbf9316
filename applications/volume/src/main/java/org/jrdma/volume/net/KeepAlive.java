package org.jrdma.volume.net;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends a connection if the peer sends nothing, or accepts nothing, for some time. Sends a message
 * if the connection is idle, so that the peer does not end it.
 */
final class KeepAlive {

    private static final int INTERVALS = 4;

    private final long silenceNanos;
    private final Runnable ping;
    private final Consumer<String> failed;
    private volatile long lastReceived = System.nanoTime();
    private volatile long lastSent = lastReceived;

    /** The time at which a message was started that has not been sent completely; 0 for none. */
    private volatile long pingStarted;

    private volatile boolean stopped;
    private volatile @Nullable Thread thread;

    /**
     * @param ping sends a message; may block
     * @param failed ends the connection for a reason
     */
    KeepAlive(Duration silence, Runnable ping, Consumer<String> failed) {
        this.silenceNanos = silence.toNanos();
        this.ping = ping;
        this.failed = failed;
    }

    void start(String name) {
        thread = Thread.ofVirtual().name("jrdma-keep-alive-" + name).start(this::run);
    }

    void received() {
        lastReceived = System.nanoTime();
    }

    void sent() {
        lastSent = System.nanoTime();
    }

    private void run() {
        var interval = silenceNanos / INTERVALS;
        received();
        while (!stopped) {
            var before = System.nanoTime();
            LockSupport.parkNanos(interval);
            var now = System.nanoTime();
            if (now - before > 2 * interval) {
                continue; // This process was stopped. First receive what arrived meanwhile.
            }
            if (now - lastReceived > silenceNanos) {
                failed.accept(
                        "the peer has sent nothing for %d ms".formatted(silenceNanos / 1_000_000));
                return;
            }
            if (pingStarted != 0 && now - pingStarted > silenceNanos) {
                failed.accept(
                        "the peer has accepted nothing for %d ms"
                                .formatted(silenceNanos / 1_000_000));
                return;
            }
            if (pingStarted == 0 && now - lastSent >= interval) {
                startPing();
            }
        }
    }

    /** Sends a message on a thread of its own, because it waits for a peer that accepts nothing. */
    private void startPing() {
        pingStarted = System.nanoTime();
        Thread.startVirtualThread(() -> {
            try {
                ping.run();
            } finally {
                pingStarted = 0;
            }
        });
    }

    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }
}
