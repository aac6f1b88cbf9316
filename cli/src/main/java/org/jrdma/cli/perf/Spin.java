package org.jrdma.cli.perf;

import java.io.IOException;

/** Looks again and again for what nobody tells of. */
final class Spin {

    private static final int BUSY_LOOKS = 500;
    private static final int LOOKS_BETWEEN_CLOCKS = 4096;

    @FunctionalInterface
    interface Look {
        boolean isThere() throws IOException;
    }

    private Spin() {}

    /**
     * Until it is there; gives way to other threads if that takes long: there may be few
     * processors.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    static void until(Look look) throws IOException {
        var end = 0L;
        for (var looks = 1; !look.isThere(); looks++) {
            if (looks < BUSY_LOOKS) {
                Thread.onSpinWait();
                continue;
            }
            Thread.yield();
            if (looks % LOOKS_BETWEEN_CLOCKS == 0) {
                var now = System.nanoTime();
                if (end == 0) {
                    end = now + ControlChannel.PATIENCE.toNanos();
                } else if (now - end > 0) {
                    throw new IOException("The other side does not do its part.");
                }
            }
        }
    }
}
