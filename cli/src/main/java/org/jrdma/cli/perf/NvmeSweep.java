package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.nvme.NvmeDrive;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Measures NVMe drives by queue depth: the options of the commands that do so, and their output.
 */
public final class NvmeSweep {

    /** The explanation of marked figures for the help of a command. */
    public static final String STABILITY = Stability.DESCRIPTION;

    /** The size of each access. */
    public static final int PAGE_BYTES = 4096;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Mixin private JsonOption output;

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

    /** Checks the options before the first measurement. */
    public void prepare() {
        plot.prepare();
    }

    /**
     * Measures reads, and optionally writes, of a drive of a target on a network.
     *
     * @param hasWrites true to measure writes, too, which overwrite the first namespace
     */
    public void measureTarget(NvmeDrive drive, boolean hasWrites) throws IOException {
        var operations =
                hasWrites
                        ? List.of(NvmeResult.Operation.values())
                        : List.of(NvmeResult.Operation.READ);
        measure(MeasuredDrive.Kind.RDMA, drive, operations, Collections.max(depths));
    }

    /**
     * Measures a drive.
     *
     * @param warmUpDepth the queue depth before the first measurement
     */
    void measure(
            MeasuredDrive.Kind kind,
            NvmeDrive drive,
            List<NvmeResult.Operation> operations,
            int warmUpDepth)
            throws IOException {
        NvmeMeter.warmUp(drive, operations, warmUpDepth, randomPages(drive), time);
        for (var operation : operations) {
            if (!output.isJson()) {
                out().println(NvmeResult.header(kind, operation));
            }
            for (var depth : depths) {
                var measured = NvmeMeter.measure(drive, operation, depth, randomPages(drive), time);
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

    private static AccessOrder randomPages(NvmeDrive drive) {
        var bytes = drive.namespaces().getFirst().bytes();
        return new AccessOrder(AccessOrder.Pattern.RANDOM, PAGE_BYTES, 0, bytes);
    }

    /**
     * Prints the results as JSON and draws the plot, if the options request this.
     *
     * @param name the name of the command, for the title of the plot
     */
    public void finish(String name) throws IOException {
        if (output.isJson()) {
            out().println(Json.of(results));
        }
        plot.write(
                results.stream().map(NvmeResult::entry).toList(),
                texts(name),
                command.commandLine().getErr());
    }

    static Plot.Texts texts(String name) {
        return new Plot.Texts(
                name + ": latency and bandwidth of 4 KiB by queue depth",
                "queue depth (commands)",
                "depth",
                "Latency is the time from the submission of a command to its completion.");
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }
}
