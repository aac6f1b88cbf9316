package org.jrdma.ffi.guard;

import java.lang.foreign.Arena;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A full memory barrier in every thread of the process, run by one thread for all.
 *
 * <p>What the calling thread stored before is visible to each thread after its barrier, and what
 * each thread stored before its barrier is visible to the calling thread afterwards.
 */
public enum Barrier {
    /**
     * membarrier(2): the kernel interrupts the processors that are running threads of this process.
     * The cost does not depend on the number of threads. Each thread may be interrupted between any
     * two machine instructions.
     */
    MEMBARRIER,

    /**
     * The handshake by which HotSpot closes a shared arena, which visits every thread of the JVM:
     * the cost grows with the number of threads. A thread that runs Java code is stopped at a
     * safepoint poll.
     */
    HANDSHAKE;

    /**
     * The barrier of this process: {@link #MEMBARRIER} if the kernel has it, unless {@code
     * -Djrdma.guard=handshake} says otherwise.
     */
    public static Barrier ofThisProcess() {
        return Chosen.BARRIER;
    }

    void run() {
        if (this == HANDSHAKE || !Membarrier.run()) {
            Arena.ofShared().close();
        }
    }

    /** Chosen when the first guard is made: a program that uses none has no barriers to run. */
    private static final class Chosen {

        private static final Logger LOG = LoggerFactory.getLogger(Barrier.class);
        static final Barrier BARRIER = choose();

        private static Barrier choose() {
            if ("handshake".equals(System.getProperty("jrdma.guard"))) {
                LOG.debug("close() uses thread handshakes, as -Djrdma.guard=handshake asks for");
                return HANDSHAKE;
            }
            if (Membarrier.register()) {
                LOG.debug("close() uses membarrier(2)");
                return MEMBARRIER;
            }
            LOG.info(
                    "This kernel does not offer membarrier(2) with PRIVATE_EXPEDITED: close() uses"
                            + " thread handshakes, whose cost grows with the number of threads");
            return HANDSHAKE;
        }
    }
}
