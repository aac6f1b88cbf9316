package org.jrdma.cli.nvme;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.jrdma.cli.perf.NvmeSweep;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.NvmeDrive;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures a drive of a target. */
@Command(
        name = "perf",
        description = {
            "Measures random reads of 4 KiB from the first namespace of a subsystem by queue depth.",
            NvmeSweep.STABILITY
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class PerfCommand implements Callable<Integer> {

    @Mixin private NvmeSweep sweep;
    @Mixin private SubsystemParameters subsystem;

    @Option(
            names = "--write",
            description = "Also measure writes, which destroy the data of the namespace.")
    private boolean hasWrites;

    @Override
    public Integer call() throws IOException {
        sweep.prepare();
        try (var drive = subsystem.connect()) {
            requireNamespace(drive);
            sweep.measureTarget(drive, hasWrites);
        }
        sweep.finish("jrdma nvme perf");
        return 0;
    }

    private static void requireNamespace(NvmeDrive drive) throws FabricException {
        var namespaces = drive.namespaces();
        if (namespaces.isEmpty() || namespaces.getFirst().bytes() < NvmeSweep.PAGE_BYTES) {
            throw new FabricException(
                    "The first namespace of %s is missing, or smaller than %,d bytes"
                            .formatted(drive, NvmeSweep.PAGE_BYTES));
        }
    }
}
