package org.jrdma.ffi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/**
 * Captures the output of slf4j-simple from construction to {@link #close()}. It replaces
 * System.err, to which slf4j-simple writes.
 */
public final class CapturedLog implements AutoCloseable {

    private final PrintStream originalErr = System.err;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    public CapturedLog() {
        System.setErr(new PrintStream(bytes, true, UTF_8));
    }

    @Override
    public String toString() {
        return bytes.toString(UTF_8);
    }

    @Override
    public void close() {
        System.setErr(originalErr);
    }
}
