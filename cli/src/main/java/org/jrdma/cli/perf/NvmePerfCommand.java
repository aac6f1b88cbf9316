package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.Verbs;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures the NVMe driver. */
@Command(
        name = "nvme",
        description = {
            "Measures random reads and writes of 4 KiB on an NVMe controller in software by queue depth: a controller in this process, one that another process lends, and one that another process serves over RDMA.",
            Stability.DESCRIPTION
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class NvmePerfCommand implements Callable<Integer> {

    static final Plot.Texts BY_DEPTH =
            new Plot.Texts(
                    "jrdma perf nvme: latency and bandwidth of 4 KiB by queue depth",
                    "queue depth (commands)",
                    "depth",
                    "Latency is the time from the submission of a command to its completion.");

    private static final int PAGE_BYTES = 4096;

    /**
     * The queue depth of the warm-up. A controller that is not compiled yet executes several times
     * as many commands with it as with one command at a time.
     */
    private static final int WARM_UP_DEPTH = 32;

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "CONTROLLER",
            converter = MeasuredDrive.KindConverter.class,
            description =
                    "Controllers to measure: local, borrowed, rdma (default: all of them; rdma only if there is an RDMA device).")
    private List<MeasuredDrive.Kind> kinds = List.of();

    @Option(
            names = {"-d", "--depths"},
            split = ",",
            converter = WholeNumberConverter.Positive.class,
            paramLabel = "DEPTH",
            defaultValue = "1,2,4,8,16,32",
            description = "Numbers of pending commands. (default: ${DEFAULT-VALUE})")
    private List<Integer> depths;

    @Option(
            names = {"-t", "--time"},
            paramLabel = "MILLIS",
            converter = MillisecondsConverter.class,
            defaultValue = "500",
            description =
                    "Measurement time per figure, and warm-up time before it. (default: ${DEFAULT-VALUE})")
    private Duration time;

    @Mixin private PlotOption plot;

    private final List<NvmeResult> results = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
        plot.prepare();
        for (var kind : kinds.isEmpty() ? availableKinds() : kinds) {
            try (var target = MeasuredDrive.open(kind)) {
                measure(kind, target);
            }
        }
        if (output.isJson()) {
            out().println(Json.of(results));
        }
        plot.write(
                results.stream().map(NvmeResult::entry).toList(),
                BY_DEPTH,
                command.commandLine().getErr());
        return 0;
    }

    private List<MeasuredDrive.Kind> availableKinds() {
        var missing = reasonWithoutRdma();
        if (missing.isEmpty()) {
            return List.of(MeasuredDrive.Kind.values());
        }
        command.commandLine()
                .getErr()
                .println("Omitting the controller over RDMA: " + missing.get());
        return List.of(MeasuredDrive.Kind.LOCAL, MeasuredDrive.Kind.BORROWED);
    }

    private static Optional<String> reasonWithoutRdma() {
        try {
            return Verbs.configured().devices().isEmpty()
                    ? Optional.of("There is no RDMA device")
                    : Optional.empty();
        } catch (FabricException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private void measure(MeasuredDrive.Kind kind, MeasuredDrive target) throws IOException {
        NvmeMeter.warmUp(target.drive(), WARM_UP_DEPTH, PAGE_BYTES, time);
        for (var operation : NvmeResult.Operation.values()) {
            if (!output.isJson()) {
                out().println(NvmeResult.header(kind, operation));
            }
            for (var depth : depths) {
                var measured =
                        NvmeMeter.measure(target.drive(), operation, depth, PAGE_BYTES, time);
                var result =
                        new NvmeResult(
                                kind,
                                operation,
                                depth,
                                measured.latency(),
                                measured.bandwidth(),
                                measured.stable());
                results.add(result);
                if (!output.isJson()) {
                    out().println(result.row());
                }
            }
        }
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }
}
