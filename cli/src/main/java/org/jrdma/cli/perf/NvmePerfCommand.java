package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.Verbs;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
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

    static final String NAME = "jrdma perf nvme";

    /**
     * The queue depth of the warm-up. A controller that is not compiled yet executes several times
     * as many commands with it as with one command at a time.
     */
    private static final int WARM_UP_DEPTH = 32;

    @Spec private CommandSpec command;

    @Parameters(
            paramLabel = "CONTROLLER",
            converter = MeasuredDrive.KindConverter.class,
            description =
                    "Controllers to measure: local, borrowed, rdma (default: all of them; rdma only if there is an RDMA device).")
    private List<MeasuredDrive.Kind> kinds = List.of();

    @Mixin private NvmeSweep sweep;

    @Override
    public Integer call() throws IOException {
        sweep.prepare();
        for (var kind : kinds.isEmpty() ? availableKinds() : kinds) {
            try (var target = MeasuredDrive.open(kind)) {
                sweep.measure(
                        kind,
                        target.drive(),
                        List.of(NvmeResult.Operation.values()),
                        WARM_UP_DEPTH);
            }
        }
        sweep.finish(NAME);
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
}
