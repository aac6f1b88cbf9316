package org.jrdma.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** Which jrdma this is, as its build has written it. */
final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() throws IOException {
        try (var text = Objects.requireNonNull(Version.class.getResourceAsStream("version.txt"))) {
            return new String[] {new String(text.readAllBytes(), UTF_8).strip()};
        }
    }
}
