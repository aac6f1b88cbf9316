package org.jrdma.ffi.linkage;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;

/** Memory of arenas that any thread may use, and which must end all the same. */
public final class SharedMemory {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private SharedMemory() {}

    /**
     * Closes a shared arena. Memory that another thread's system call is using, as a read from a
     * file, can only end after it, for which this waits up to ten seconds.
     */
    public static void close(Arena arena) throws FabricException {
        var deadline = Deadline.after(PATIENCE);
        while (true) {
            try {
                arena.close();
                return;
            } catch (IllegalStateException e) {
                if (deadline.hasPassed()) {
                    throw new FabricException("The memory stays in use: " + e.getMessage());
                }
                LockSupport.parkNanos(100_000);
            }
        }
    }
}
