package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.Deque;

/** Closes resources in reverse order of their opening. */
final class Resources {

    private Resources() {}

    /**
     * Closes and removes all resources on the stack. Throws the first failure, with later failures
     * as suppressed exceptions.
     */
    static void closeAll(Deque<AutoCloseable> opened) throws IOException {
        IOException failure = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                if (failure == null) {
                    failure = e instanceof IOException io ? io : new IOException(e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
