package org.jrdma.cli.perf;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.Paragraph;
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
            "Measures the latency and bandwidth of RDMA, SISCI and sockets between two processes by message size.",
            "Latency is half of a round trip. For one-sided operations (read, fetch-add, swap, dma) it is the time until completion.",
            "All paths are measured in five passes, and in up to ten more until the two best passes agree. With two processors, passes do not count while the processors are slower than at other times. The best p50 and the best bandwidth are printed at the end. The mark ~ follows a figure that no second pass confirmed within 10 %%. Then stop other programs, or use a longer --time.",
            "line: the time for a cache line from one processor to another and back. Compare only figures for which it is about the same; on a virtual machine it changes when the host moves a virtual processor."
        },
        mixinStandardHelpOptions = true,
        subcommands = {NvmePerfCommand.class, VolumePerfCommand.class},
        sortOptions = false)
public final class PerfCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private PeerOptions options;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "PATH",
            description =
                    "Operations and transports to measure: write, read, send, fetch-add, swap, pio, dma, supersockets, sisci, rsocket, smc, tcp. By default all that are available.")
    private List<String> names = List.of();

    @Option(
            names = {"-s", "--sizes"},
            split = ",",
            converter = Size.Converter.class,
            paramLabel = "SIZE",
            defaultValue = "8,64,512,4K,32K,256K,1M",
            description =
                    "Message sizes in bytes, such as 64, 4K or 1M. (default: ${DEFAULT-VALUE})")
    private List<Integer> sizes;

    @Option(
            names = {"-t", "--time"},
            paramLabel = "MILLIS",
            converter = MillisecondsConverter.class,
            defaultValue = "200",
            description =
                    "Measurement time per figure, divided among five passes. Each additional pass takes a fifth of it. (default: ${DEFAULT-VALUE})")
    private Duration time;

    @Mixin private PlotOption plot;

    @Option(
            names = "--compare",
            description =
                    "Also run the C programs: perftest for write, read and send, rstream for rsocket. They use the same device, sizes, queue depth and number of messages as a pass (within 100 to 100,000). They run once, whereas the best pass counts for Java. Both sides run on this machine.")
    private boolean compares;

    private final List<BaselineComparison> comparisons = new ArrayList<>();

    /** The notes to print after the peer was reached. */
    private final List<String> notes = new ArrayList<>();

    private int problems;

    @Override
    public Integer call() throws IOException {
        if (options.isServer()) {
            options.serve(out(), errors());
            return 0;
        }
        plot.prepare();
        var paths = options.paths();
        var selected =
                names.isEmpty()
                        ? paths
                        : names.stream().map(name -> Paths.named(name, paths)).toList();
        var states = new MachineStates(Runtime.getRuntime().availableProcessors());
        var sweeps =
                available(selected).stream()
                        .map(path -> new PathSweep(path, sizes(path), states))
                        .toList();
        try {
            measure(sweeps);
            printNotes();
        } catch (PeerUnreachableException e) {
            problems++;
            errors().println(e.getMessage());
        }
        sweeps.forEach(this::print);
        var results = sweeps.stream().map(PathSweep::results).flatMap(List::stream).toList();
        if (output.isJson()) {
            out().println(Json.of(compares ? comparisons : results));
        }
        plot.write(results.stream().map(Result::entry).toList(), texts(results), errors());
        return problems == 0 && !results.isEmpty() ? 0 : 1;
    }

    private static Plot.Texts texts(List<Result> results) {
        var lines =
                results.stream()
                        .mapToLong(result -> result.machine().cacheLineNanos())
                        .summaryStatistics();
        return lines.getMax() == 0
                ? Plot.BY_SIZE
                : Plot.BY_SIZE.withNote(
                        "A cache line takes %d to %d ns between processors."
                                .formatted(lines.getMin(), lines.getMax()));
    }

    /**
     * Returns the paths that can be measured. Adds notes about the others, grouped by reason, and
     * about sizes that a path does not support.
     */
    private List<Path> available(List<Path> selected) {
        var available = new ArrayList<Path>();
        var unavailable = new LinkedHashMap<String, List<String>>();
        for (var path : selected) {
            var reason =
                    path.missing()
                            .or(() ->
                                    sizes(path).isEmpty()
                                            ? Optional.of("it supports " + path.range())
                                            : Optional.empty());
            if (reason.isEmpty()) {
                available.add(path);
                noteUnsupportedSizes(path);
            } else {
                unavailable.computeIfAbsent(reason.get(), _ -> new ArrayList<>()).add(path.name());
            }
        }
        problems += names.isEmpty() ? 0 : unavailable.size();
        unavailable.forEach((reason, paths) ->
                notes.add("%s: not measured: %s".formatted(String.join(", ", paths), reason)));
        return available;
    }

    private void noteUnsupportedSizes(Path path) {
        for (var bytes : sizes) {
            if (path.smallest() < path.largest() && !path.supports(bytes)) {
                notes.add(
                        "%s: not measured with %s: it supports %s"
                                .formatted(path.name(), Size.toString(bytes), path.range()));
            }
        }
    }

    /**
     * Measures all paths in passes. A complete path can become incomplete again, if the machine was
     * faster during the measurement of another path.
     */
    private void measure(List<PathSweep> sweeps) throws IOException {
        MachineState.now(); // compiles the code
        var working = new ArrayList<>(sweeps);
        try (var peer = options.peer(command.name())) {
            for (var pass = 1; pass <= RepeatedPasses.MAX_PASSES; pass++) {
                var incomplete =
                        working.stream().filter(sweep -> sweep.incompleteSizes() > 0).toList();
                if (incomplete.isEmpty()) {
                    return;
                }
                notes.add(
                        "pass %d of at most %d, sizes to measure: %s"
                                .formatted(pass, RepeatedPasses.MAX_PASSES, words(incomplete)));
                for (var sweep : incomplete) {
                    if (!measurePass(sweep, peer)) {
                        working.remove(sweep);
                    }
                }
            }
        }
    }

    private static String words(List<PathSweep> sweeps) {
        return sweeps.stream()
                .map(sweep -> "%s %d".formatted(sweep.path().name(), sweep.incompleteSizes()))
                .collect(joining(", "));
    }

    /** Measures a path once. Reports a failure, and returns false after it. */
    private boolean measurePass(PathSweep sweep, Peer peer) throws PeerUnreachableException {
        try (var channel = peer.connect()) {
            printNotes();
            sweep.measurePass(channel, passTime(), time);
            return true;
        } catch (PeerUnreachableException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            problems++;
            errors().printf("%s: failed: %s%n", sweep.path().name(), ExceptionText.of(e));
            return false;
        }
    }

    private Duration passTime() {
        return time.dividedBy(RepeatedPasses.MIN_PASSES);
    }

    private void print(PathSweep sweep) {
        var measured = sweep.results();
        if (measured.isEmpty()) {
            return;
        }
        if (!output.isJson()) {
            out().println(Table.header(sweep.path(), measured.getFirst().connection()));
            measured.forEach(result -> out().println(Table.row(result)));
        }
        if (compares) {
            compare(sweep.path(), measured);
        }
    }

    private void printNotes() {
        notes.forEach(note -> errors().println(Paragraph.wrap(note, 2)));
        notes.clear();
    }

    /**
     * Runs the C programs. The path is already closed, so that it does not compete with the
     * programs.
     */
    private void compare(Path path, List<Result> measured) {
        try {
            var baseline = options.nativeBaseline(path.name());
            var missing = baseline.missing(path.name());
            if (missing.isPresent()) {
                throw new IOException(missing.get());
            }
            for (var result : measured) {
                var comparison = baseline.compare(result, passTime());
                problems += comparison.c().isPresent() ? 0 : 1;
                comparisons.add(comparison);
                print(comparison);
            }
        } catch (IOException e) { // The C programs cannot be run for any message size.
            measured.forEach(result ->
                    comparisons.add(BaselineComparison.unavailable(result, e.getMessage())));
            print(comparisons.getLast());
        }
    }

    private void print(BaselineComparison comparison) {
        if (!output.isJson()) {
            out().printf("%10s%n%s%n", Size.toString(comparison.java().bytes()), comparison.row());
        }
    }

    /** Returns the requested sizes that a path supports, or the only size that it supports. */
    private List<Integer> sizes(Path path) {
        return path.smallest() == path.largest()
                ? List.of(path.smallest())
                : sizes.stream().filter(path::supports).sorted().distinct().toList();
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }

    private PrintWriter errors() {
        return command.commandLine().getErr();
    }
}
