package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures the latency of one path repeatedly. */
@Command(
        name = "ping",
        description =
                "Measures the latency of messages repeatedly and prints one line per interval. With --json each line is an object.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class PingCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private PeerOptions options;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "PATH",
            arity = "0..1",
            defaultValue = "write",
            description =
                    "The operation or transport to measure, as for jrdma perf. (default: ${DEFAULT-VALUE})")
    private String name;

    @Option(
            names = {"-s", "--size"},
            converter = Size.Converter.class,
            defaultValue = "64",
            paramLabel = "SIZE",
            description =
                    "Message size in bytes, such as 64, 4K or 1M. (default: ${DEFAULT-VALUE})")
    private int bytes;

    @Option(
            names = {"-c", "--count"},
            converter = WholeNumberConverter.Positive.class,
            paramLabel = "LINES",
            description = "Number of lines to print. By default no limit.")
    private Optional<Integer> lines = Optional.empty();

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "MILLIS",
            converter = MillisecondsConverter.class,
            defaultValue = "1000",
            description = "Measurement time per line. (default: ${DEFAULT-VALUE})")
    private Duration interval;

    @Override
    public Integer call() throws IOException {
        var out = command.commandLine().getOut();
        if (options.isServer()) {
            options.serve(out, command.commandLine().getErr());
            return 0;
        }
        ping(out);
        return 0;
    }

    private void ping(PrintWriter out) throws IOException {
        var path = Paths.named(name, options.paths());
        if (path.missing().isPresent()) {
            throw new IOException("%s: %s".formatted(name, path.missing().get()));
        }
        if (!path.supports(bytes)) {
            throw new IOException(
                    "%s supports messages of %s, not of %s."
                            .formatted(name, path.range(), Size.toString(bytes)));
        }
        try (var peer = options.peer("perf");
                var channel = peer.connect();
                var meter = MeasuringSide.open(channel, path, bytes)) {
            if (!output.isJson()) {
                out.printf(
                        "%s, %d bytes: %s%s; latency per message in us%n",
                        name,
                        bytes,
                        path.description(),
                        meter.connection().map(text -> ", " + text).orElse(""));
            }
            meter.warmUp(bytes, interval);
            if (!output.isJson()) {
                out.printf(
                        "%10s %9s %9s %9s %9s %9s%n",
                        "samples", "min", "p50", "p99", "p99.9", "max");
            }
            for (var printed = 0; lines.isEmpty() || printed < lines.get(); printed++) {
                var latency = meter.latency(bytes, interval);
                out.println(output.isJson() ? Json.of(line(path, latency)) : row(latency));
            }
        }
    }

    /** A line of the output with {@code --json}. */
    private record Line(
            String path,
            Optional<Paths.Fabric> fabric,
            Optional<String> device,
            int bytes,
            LatencyStatistics latency) {}

    private Line line(Path path, LatencyStatistics latency) {
        var provider = path.provider();
        return new Line(name, provider.fabric(), provider.device(), bytes, latency);
    }

    private static String row(LatencyStatistics latency) {
        return String.format(
                Locale.ROOT,
                "%10d %9.2f %9.2f %9s %9s %9.2f",
                latency.samples(),
                latency.minimum(),
                latency.median(),
                latency.percentile99AsText(),
                latency.percentile99Point9AsText(),
                latency.maximum());
    }
}
