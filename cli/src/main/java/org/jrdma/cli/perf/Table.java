package org.jrdma.cli.perf;

import java.util.Locale;
import java.util.Optional;

/** Results in columns, for people. */
final class Table {

    private Table() {}

    /** What comes before a path's rows. */
    static String head(Path path, Optional<String> taken) {
        return "%n%s: %s%s; microseconds for a message%n%10s %9s %9s %9s %9s %11s %11s"
                .formatted(
                        path.name(),
                        path.description(),
                        taken.map(way -> ", " + way).orElse(""),
                        "bytes",
                        "least",
                        "50 %",
                        "99 %",
                        "99.9 %",
                        "MB/s",
                        "messages/s");
    }

    static String row(Result result) {
        var latency = result.latency();
        return String.format(
                Locale.ROOT,
                "%10s %9.2f %9.2f %9s %9s %11.1f %11.0f",
                Size.toString(result.bytes()),
                latency.minimum(),
                latency.median(),
                latency.shown99(),
                latency.shown99Point9(),
                result.bandwidth().megabytesPerSecond(),
                result.bandwidth().messagesPerSecond());
    }
}
