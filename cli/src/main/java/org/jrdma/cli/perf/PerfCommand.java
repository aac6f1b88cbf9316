package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
                    "What to measure: write, read, send, fetch-add, swap, pio, dma, supersockets, sisci, rsocket, smc, tcp. By default all that is there.")
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
            converter = Milliseconds.class,
            defaultValue = "200",
            description =
                    "How long each figure is measured, after as long to warm up. (${DEFAULT-VALUE})")
    private Duration time;

    @Option(
            names = "--plot",
            paramLabel = "FILE",
            description = "Draw the curves: FILE.svg, FILE.html or FILE.png.")
    private Optional<java.nio.file.Path> plot = Optional.empty();

    @Option(
            names = "--compare",
            description =
                    "Measure write, read and send by the C programs of perftest too, and rsocket by rstream, where they are installed: the same device, sizes, number of messages (of 100 to 100,000) and of those under way. With both sides on this machine.")
    private boolean compares;

    private final List<Result> results = new ArrayList<>();
    private final List<InC> compared = new ArrayList<>();
    private int problems;

    @Override
    public Integer call() throws IOException {
        if (measuring.isServer()) {
            measuring.serve(out(), errors());
            return 0;
        }
        plot.ifPresent(PlotFile::check);
        var paths = measuring.paths();
        var chosen =
                names.isEmpty()
                        ? paths
                        : names.stream().map(name -> Paths.named(name, paths)).toList();
        try (var otherSide = measuring.otherSide(command.name())) {
            for (var path : chosen) {
                examine(path, otherSide);
            }
        } catch (NobodyAnswersException e) { // for no path
            problems++;
            errors().println(e.getMessage());
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

    /** What fails is told, and leaves what was measured before. */
    private void examine(Path path, OtherSide otherSide) throws NobodyAnswersException {
        var whyNot =
                path.missing()
                        .or(() ->
                                fitting(path).isEmpty()
                                        ? Optional.of("it moves " + path.range())
                                        : Optional.empty());
        if (whyNot.isPresent()) {
            problems += names.isEmpty() ? 0 : 1;
            errors().printf("%s: not measured: %s%n", path.name(), whyNot.get());
            return;
        }
        var before = results.size();
        try {
            measure(path, otherSide);
        } catch (NobodyAnswersException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            problems++;
            errors().printf("%s: failed: %s%n", path.name(), Reason.of(e));
        }
        var measured = results.subList(before, results.size());
        if (compares && !measured.isEmpty()) {
            compare(path, measured);
        }
    }

    private void measure(Path path, OtherSide otherSide) throws IOException {
        var fitting = fitting(path);
        for (var bytes : sizes) {
            if (path.smallest() < path.largest() && !path.moves(bytes)) {
                errors().printf(
                                "%s: not measured with %s: it moves %s%n",
                                path.name(), Size.toString(bytes), path.range());
            }
        }
        try (var channel = otherSide.call();
                var meter = Meter.open(channel, path, fitting.getLast())) {
            if (output.isJson()) {
                errors().printf("%s: %s%n", path.name(), path.description());
            } else {
                out().println(Table.head(path, meter.taken()));
            }
            for (var bytes : fitting) {
                if (output.isJson()) {
                    errors().printf("%s: %d bytes%n", path.name(), bytes);
                }
                var result = meter.measure(bytes, time);
                results.add(result);
                if (!output.isJson()) {
                    out().println(Table.row(result));
                }
            }
        }
    }

    /** When the path is closed, so that one does not disturb the other. */
    private void compare(Path path, List<Result> measured) {
        try {
            var programs = measuring.programsInC(path.name());
            var whyNot = programs.whyNot(path.name());
            if (whyNot.isPresent()) {
                throw new IOException(whyNot.get());
            }
            for (var result : measured) {
                var figures = programs.compare(result, time);
                problems += figures.c().isPresent() ? 0 : 1;
                compared.add(figures);
                print(figures);
            }
        } catch (IOException e) { // there is nothing in C, for any size
            measured.forEach(result -> compared.add(InC.missing(result, e.getMessage())));
            print(compared.getLast());
        }
    }

    private void print(InC figures) {
        if (!output.isJson()) {
            out().printf("%10s%n%s%n", Size.toString(figures.java().bytes()), figures.row());
        }
    }

    /** The sizes that a path moves. Of a path that moves one alone, nobody need know which. */
    private List<Integer> fitting(Path path) {
        return path.smallest() == path.largest()
                ? List.of(path.smallest())
                : sizes.stream().filter(path::moves).sorted().distinct().toList();
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }

    private PrintWriter errors() {
        return command.commandLine().getErr();
    }
}
