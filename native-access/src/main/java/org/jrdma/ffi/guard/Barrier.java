package org.jrdma.ffi.guard;

import java.lang.foreign.Arena;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A full memory barrier in every thread of the process, triggered by one thread.
 *
 * <p>Let C be the thread that triggers the barrier. Stores by C before the call are visible to each
 * thread T after the barrier in T. Stores by T before the barrier in T are visible to C after the
 * call.
 */
public enum Barrier {
    /**
     * membarrier(2): the kernel interrupts the processors that are running threads of this process.
     * The cost does not depend on the number of threads. Each thread may be interrupted between any
     * two machine instructions.
     */
    MEMBARRIER,

    /**
     * The thread handshake with which HotSpot closes a shared arena. It visits every thread of the
     * JVM, so its cost grows with the number of threads. A thread that runs Java code is stopped at
     * a safepoint poll.
     */
    HANDSHAKE;

    /**
     * Returns the barrier used by this process: {@link #MEMBARRIER} if the kernel supports it,
     * unless {@code -Djrdma.guard=handshake} is set.
     */
    public static Barrier ofThisProcess() {
        return Chosen.BARRIER;
    }

    /**
     * Checks the system property {@code jrdma.guard}.
     *
     * @throws IllegalArgumentException if the value is neither {@code membarrier} nor {@code
     *     handshake}
     */
    public static void checkProperty() {
        isHandshakeRequested();
    }

    private static boolean isHandshakeRequested() {
        var value = System.getProperty("jrdma.guard", "membarrier");
        return switch (value) {
            case "membarrier" -> false;
            case "handshake" -> true;
            default ->
                    throw new IllegalArgumentException(
                            "The system property jrdma.guard is \"%s\". It must be membarrier or handshake."
                                    .formatted(value));
        };
    }

    void run() {
        if (this == HANDSHAKE || !Membarrier.run()) {
            Arena.ofShared().close();
        }
    }

    /**
     * The barrier that this process uses. This class is initialized when the first guard is
     * created, because a process without guards needs no barrier.
     */
    private static final class Chosen {

        private static final Logger LOG = LoggerFactory.getLogger(Barrier.class);
        static final Barrier BARRIER = choose();

        private static Barrier choose() {
            if (isHandshakeRequested()) {
                LOG.debug("close() uses thread handshakes because of -Djrdma.guard=handshake");
                return HANDSHAKE;
            }
            if (Membarrier.register()) {
                LOG.debug("close() uses membarrier(2)");
                return MEMBARRIER;
            }
            LOG.info(
                    "This kernel does not support membarrier(2) with PRIVATE_EXPEDITED. close()"
                            + " uses thread handshakes, whose cost grows with the number of threads.");
            return HANDSHAKE;
        }
    }
}
