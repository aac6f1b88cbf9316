package org.jrdma.volume.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

/** The version of this software, which the build has written into a resource. */
public final class SoftwareVersion {

    private static final String TEXT = read();

    private SoftwareVersion() {}

    /** Returns the version. */
    public static String text() {
        return TEXT;
    }

    private static String read() {
        try (var resource =
                Objects.requireNonNull(SoftwareVersion.class.getResourceAsStream("version.txt"))) {
            return new String(resource.readAllBytes(), UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
