package org.jrdma.cli.output;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** The version that the build has written into the resource {@code version.txt}. */
public final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() throws IOException {
        try (var text = Objects.requireNonNull(Version.class.getResourceAsStream("version.txt"))) {
            return new String[] {new String(text.readAllBytes(), UTF_8).strip()};
        }
    }
}
