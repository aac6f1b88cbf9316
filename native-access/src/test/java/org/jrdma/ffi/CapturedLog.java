package org.jrdma.ffi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/** Captures the log output until it is closed. slf4j-simple writes to System.err. */
public final class CapturedLog implements AutoCloseable {

    private final PrintStream before = System.err;
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
        System.setErr(before);
    }
}
