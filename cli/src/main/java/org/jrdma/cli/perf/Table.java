package org.jrdma.cli.perf;

import java.util.Locale;
import java.util.Optional;

/** Formats results as a table. */
final class Table {

    private Table() {}

    static String header(Path path, Optional<String> connection) {
        return "%n%s: %s%s; latency per message in us; %s%n%10s %9s %9s  %9s %9s %11s  %11s %9s"
                .formatted(
                        path.name(),
                        path.description(),
                        connection.map(text -> ", " + text).orElse(""),
                        Stability.LEGEND,
                        "bytes",
                        "min",
                        "p50",
                        "p99",
                        "p99.9",
                        "MB/s",
                        "messages/s",
                        "line, ns");
    }

    static String row(Result result) {
        var latency = result.latency();
        return String.format(
                Locale.ROOT,
                "%10s %9.2f %9.2f%c %9s %9s %11.1f%c %11.0f %9d",
                Size.toString(result.bytes()),
                latency.minimum(),
                latency.median(),
                result.stable().latencyMark(),
                latency.percentile99AsText(),
                latency.percentile99Point9AsText(),
                result.bandwidth().megabytesPerSecond(),
                result.stable().bandwidthMark(),
                result.bandwidth().messagesPerSecond(),
                result.machine().cacheLineNanos());
    }
}
