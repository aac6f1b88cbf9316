package org.jrdma.cli.perf;

import java.util.Locale;
import org.jrdma.cli.output.Json;

/**
 * The latency and bandwidth of random transfers of 4 KiB.
 *
 * @param controller the place of the controller
 * @param depth the number of pending commands
 */
record NvmeResult(
        MeasuredDrive.Kind controller,
        Operation operation,
        int depth,
        LatencyStatistics latency,
        MeasuredBandwidth bandwidth,
        Stability stable) {

    /** The operation of the commands. */
    enum Operation {
        READ,
        WRITE
    }

    static String header(MeasuredDrive.Kind controller, Operation operation) {
        return "%n%s %s: %s; latency per command in us; %s%n%10s %9s %9s  %9s %9s %11s  %11s"
                .formatted(
                        Json.name(controller),
                        Json.name(operation),
                        controller.description(),
                        Stability.LEGEND,
                        "depth",
                        "min",
                        "p50",
                        "p99",
                        "p99.9",
                        "MB/s",
                        "commands/s");
    }

    String row() {
        return String.format(
                Locale.ROOT,
                "%10d %9.2f %9.2f%c %9s %9s %11.1f%c %11.0f",
                depth,
                latency.minimum(),
                latency.median(),
                stable.latencyMark(),
                latency.percentile99AsText(),
                latency.percentile99Point9AsText(),
                bandwidth.megabytesPerSecond(),
                stable.bandwidthMark(),
                bandwidth.messagesPerSecond());
    }

    Plot.Entry entry() {
        return new Plot.Entry(
                "%s %s".formatted(Json.name(controller), Json.name(operation)),
                depth,
                latency,
                bandwidth,
                stable);
    }
}
