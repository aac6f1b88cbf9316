package org.jrdma.volume.net;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Deadline;

/** The exchange of the first messages on a new wire, with a deadline. */
final class Handshake {

    private Handshake() {}

    /** An exchange of the first messages. */
    @FunctionalInterface
    interface Exchange extends Callable<HelloWithLimits> {
        @Override
        HelloWithLimits call() throws IOException;
    }

    /** Runs an exchange. Closes the wire if it fails or the deadline passes. */
    static HelloWithLimits run(Wire wire, Deadline deadline, Exchange exchange) throws IOException {
        var timer =
                new CompletableFuture<Boolean>()
                        .completeOnTimeout(
                                true, Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
        var stop = timer.thenAcceptAsync(_ -> wire.shutdown());
        var succeeded = false;
        try {
            var hello = exchange.call();
            succeeded = timer.cancel(false);
            if (!succeeded) {
                throw deadline.missed("No handshake message of the peer");
            }
            return hello;
        } catch (IOException | RuntimeException e) {
            if (!succeeded && !timer.cancel(false)) {
                throw deadline.missed("No handshake message of the peer", e);
            }
            throw e;
        } finally {
            if (!succeeded) {
                wire.shutdown();
                var _ = stop.exceptionally(_ -> null).join();
                wire.close();
            }
        }
    }
}
