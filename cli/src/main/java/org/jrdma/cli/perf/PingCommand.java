package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.Output;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows how long one message takes, again and again. */
@Command(
        name = "ping",
        description =
                "Shows how long a message takes, a line each second, until it is ended or has shown enough. With --json each line is an object.",
        mixinStandardHelpOptions = true)
public final class PingCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private Measuring measuring;
    @Mixin private Output output;

    @Parameters(
            paramLabel = "PATH",
            arity = "0..1",
            defaultValue = "write",
            description = "As of the command perf. (${DEFAULT-VALUE})")
    private String name;

    @Option(
            names = {"-s", "--size"},
            converter = Size.Converter.class,
            defaultValue = "64",
            description = "Bytes of a message, with K or M behind them. (${DEFAULT-VALUE})")
    private int bytes;

    @Option(
            names = {"-c", "--count"},
            paramLabel = "LINES",
            description = "How many lines; by default they do not end.")
    private Optional<Integer> lines = Optional.empty();

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "MILLIS",
            converter = Milliseconds.class,
            defaultValue = "1000",
            description = "How long a line is measured. (${DEFAULT-VALUE})")
    private Duration interval;

    @Override
    public Integer call() throws IOException {
        var out = command.commandLine().getOut();
        if (measuring.isServer()) {
            measuring.serve(out, command.commandLine().getErr());
            return 0;
        }
        ping();
        return 0;
    }

    private void ping() throws IOException {
        if (lines.isPresent() && lines.get() < 1) {
            throw new IllegalArgumentException("--count is at least 1");
        }
        var out = command.commandLine().getOut();
        var path = Paths.named(name, measuring.paths());
        if (path.missing().isPresent()) {
            throw new IOException("%s: %s".formatted(name, path.missing().get()));
        }
        if (!path.moves(bytes)) {
            throw new IOException(
                    "%s moves %d to %d bytes".formatted(name, path.smallest(), path.largest()));
        }
        try (var otherSide = measuring.otherSide("perf");
                var channel = otherSide.call();
                var meter = Meter.open(channel, path, bytes)) {
            if (!output.isJson()) {
                out.printf(
                        "%s, %d bytes: %s%s%n",
                        name,
                        bytes,
                        path.description(),
                        meter.taken().map(way -> ", " + way).orElse(""));
            }
            meter.warmUp(bytes, interval);
            for (var shown = 0; lines.isEmpty() || shown < lines.get(); shown++) {
                var latency = meter.latency(bytes, interval);
                out.println(output.isJson() ? Json.of(line(path, latency)) : line(latency));
            }
        }
    }

    /** A line for programs. */
    private record Line(
            String path,
            Optional<Paths.Fabric> fabric,
            Optional<String> device,
            int bytes,
            Latency latency) {}

    private Line line(Path path, Latency latency) {
        var provider = path.provider();
        return new Line(name, provider.fabric(), provider.device(), bytes, latency);
    }

    private static String line(Latency latency) {
        return String.format(
                Locale.ROOT,
                "%,9d times: least %.2f us, half within %.2f, 99 %% within %s, 99.9 %% within %s, longest %.2f",
                latency.samples(),
                latency.minimum(),
                latency.median(),
                latency.shown99(),
                latency.shown99Point9(),
                latency.maximum());
    }
}
