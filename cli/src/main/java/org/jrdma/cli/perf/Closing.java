package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.Deque;

/** Closes what was opened, newest first. */
final class Closing {

    private Closing() {}

    /** Empties the stack, and throws what failed first. */
    static void all(Deque<AutoCloseable> opened) throws IOException {
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
