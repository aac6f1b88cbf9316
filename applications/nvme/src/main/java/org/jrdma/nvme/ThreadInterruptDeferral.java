package org.jrdma.nvme;

import org.jrdma.ffi.FabricException;

/**
 * The interrupts of the current thread. An interrupt ends a wait, except during a close: a close
 * defers interrupts to its end, because otherwise the controller would continue to run.
 */
final class ThreadInterruptDeferral {

    /** A step of a close. */
    @FunctionalInterface
    interface Step {
        void run() throws FabricException;
    }

    private static final class Deferred {
        private boolean interrupted;
    }

    private static final ScopedValue<Deferred> DEFERRED = ScopedValue.newInstance();

    private ThreadInterruptDeferral() {}

    /** Runs a step of a close. All waits of the step ignore interrupts, which are deferred. */
    static void defer(Step step) throws FabricException {
        var deferred = new Deferred();
        try {
            ScopedValue.where(DEFERRED, deferred)
                    .call(() -> {
                        step.run();
                        return deferred;
                    });
        } finally {
            if (deferred.interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns true if the current wait must end, because the thread is interrupted. */
    static boolean endWait() {
        if (!Thread.currentThread().isInterrupted()) {
            return false;
        }
        if (!DEFERRED.isBound()) {
            return true;
        }
        DEFERRED.get().interrupted = Thread.interrupted();
        return false;
    }
}
