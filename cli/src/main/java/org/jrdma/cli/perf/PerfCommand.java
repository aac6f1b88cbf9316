package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.Json;
import org.jrdma.cli.Output;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures latency and bandwidth. */
@Command(
        name = "perf",
        description = {
            "Measures latency and bandwidth between two processes, by message size: RDMA, SISCI, and sockets on each transport.",
            "Latency is that of one message: half of there and back, or until it is done for what the other side takes no part in."
        },
        mixinStandardHelpOptions = true)
public final class PerfCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private Measuring measuring;
    @Mixin private Output output;

    @Parameters(
            paramLabel = "PATH",
            description =
                    "What to measure: write, read, send, fetch-add, swap, pio, dma, tcp, smc, rsocket, supersockets. By default all that is there.")
    private List<String> names = List.of();

    @Option(
            names = {"-s", "--sizes"},
            split = ",",
            converter = Size.Converter.class,
            defaultValue = "8,64,512,4K,32K,256K,1M",
            description = "Bytes of a message, with K or M behind them. (${DEFAULT-VALUE})")
    private List<Integer> sizes;

    @Option(
            names = {"-t", "--time"},
            paramLabel = "MILLIS",
            defaultValue = "200",
            description =
                    "How long each figure is measured, after as long to warm up. (${DEFAULT-VALUE})")
    private int millis;

    @Option(
            names = "--plot",
            paramLabel = "FILE",
            description = "Draw the curves: FILE.svg, FILE.html or FILE.png.")
    private Optional<java.nio.file.Path> plot = Optional.empty();

    @Option(
            names = "--compare",
            description =
                    "Measure write, read and send by the C programs of perftest too, where they are installed: the same device, sizes, number of messages and of those under way. With both sides on this machine.")
    private boolean compares;

    private final List<InC> compared = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
        if (measuring.isServer()) {
            measuring.serve(out(), errors());
            return 0;
        }
        plot.ifPresent(PlotFile::check);
        var results = new ArrayList<Result>();
        var problems = 0;
        var paths = measuring.paths();
        var chosen =
                names.isEmpty()
                        ? paths
                        : names.stream().map(name -> Paths.named(name, paths)).toList();
        try (var otherSide = measuring.otherSide(command.name())) {
            for (var path : chosen) {
                if (path.missing().isPresent()) {
                    problems += names.isEmpty() ? 0 : 1;
                    errors().printf("%s: not measured: %s%n", path.name(), path.missing().get());
                    continue;
                }
                try {
                    measure(path, otherSide, results);
                } catch (IOException e) {
                    problems++;
                    errors().printf("%s: failed: %s%n", path.name(), e.getMessage());
                }
            }
        }
        if (output.isJson()) {
            out().println(Json.of(compares ? compared : results));
        }
        if (plot.isPresent() && !results.isEmpty()) {
            PlotFile.write(plot.get(), results);
            errors().println("drawn in " + plot.get());
        }
        return problems == 0 && !results.isEmpty() ? 0 : 1;
    }

    private void measure(Path path, OtherSide otherSide, List<Result> results) throws IOException {
        var fitting = fitting(path);
        if (output.isJson()) {
            errors().printf("%s: %s%n", path.name(), path.description());
        } else {
            out().println(Table.head(path));
        }
        try (var channel = otherSide.call();
                var meter = Meter.open(channel, path, fitting.getLast())) {
            for (var bytes : fitting) {
                if (output.isJson()) {
                    errors().printf("%s: %d bytes%n", path.name(), bytes);
                }
                var result = meter.measure(bytes, Duration.ofMillis(millis));
                results.add(result);
                if (!output.isJson()) {
                    out().println(Table.row(result));
                }
            }
        }
        if (compares) {
            compare(results.subList(results.size() - fitting.size(), results.size()));
        }
    }

    /** When the path is closed, so that one does not disturb the other. */
    private void compare(List<Result> results) {
        for (var result : results) {
            var figures = inC(result);
            compared.add(figures);
            if (!output.isJson()) {
                out().printf("%10s%n%s%n", Size.toString(result.bytes()), figures.row());
            }
            if (figures.c().isEmpty()) {
                return; // of all sizes alike
            }
        }
    }

    private InC inC(Result result) {
        try {
            var perftest = measuring.perftest();
            return perftest.whyNot(result.path())
                    .map(why -> InC.missing(result, why))
                    .orElseGet(() -> perftest.compare(result, Duration.ofMillis(millis)));
        } catch (IOException e) {
            return InC.missing(result, e.getMessage());
        }
    }

    /** The sizes that a path moves; its largest below them if it moves none. */
    private List<Integer> fitting(Path path) {
        var fitting = sizes.stream().filter(path::moves).sorted().distinct().toList();
        return fitting.isEmpty() ? List.of(path.smallest()) : fitting;
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }

    private PrintWriter errors() {
        return command.commandLine().getErr();
    }
}
