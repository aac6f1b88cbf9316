package org.jrdma.ffi.linkage;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;

/** Closes shared arenas whose memory other threads may be using. */
public final class ArenaCloser {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private ArenaCloser() {}

    /**
     * Closes a shared arena. If a system call of another thread, such as a read from a file, is
     * using the memory of the arena, this method waits up to ten seconds for the end of the call.
     *
     * @throws FabricException if the memory is still in use after ten seconds
     */
    public static void close(Arena arena) throws FabricException {
        var deadline = Deadline.after(TIMEOUT);
        while (true) {
            try {
                arena.close();
                return;
            } catch (IllegalStateException e) {
                if (deadline.hasPassed()) {
                    throw new FabricException(
                            "The memory is still in use after %d s: %s"
                                    .formatted(TIMEOUT.toSeconds(), e.getMessage()));
                }
                LockSupport.parkNanos(100_000);
            }
        }
    }
}
