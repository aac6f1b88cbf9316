package org.jrdma.cli.nvme;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import org.jrdma.nvme.NvmeDrive;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Describes a drive and its namespaces. */
@Command(
        name = "list",
        description = "Connects to a subsystem, and describes the drive and its namespaces.",
        mixinStandardHelpOptions = true)
public final class ListNamespacesCommand implements Callable<Integer> {

    /** A namespace, as the output has it. */
    record Namespace(int id, long blocks, int blockBytes) {}

    /** A drive, as the output has it. */
    record Drive(
            String name,
            String model,
            String serial,
            String firmware,
            int controller,
            int maxTransferBytes,
            int temperatureCelsius,
            List<Namespace> namespaces) {}

    private static final int ZERO_CELSIUS_IN_KELVIN = 273;

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;
    @Mixin private SubsystemParameters subsystem;

    @Override
    public Integer call() throws IOException {
        try (var drive = subsystem.connect()) {
            print(describe(drive));
        }
        return 0;
    }

    private static Drive describe(NvmeDrive drive) throws IOException {
        var identity = drive.identity();
        return new Drive(
                identity.subsystemName(),
                identity.modelNumber(),
                identity.serialNumber(),
                identity.firmware(),
                identity.controllerId(),
                drive.maxTransferBytes(),
                drive.smartLog().temperatureKelvin() - ZERO_CELSIUS_IN_KELVIN,
                drive.namespaces().stream()
                        .map(each ->
                                new Namespace(each.id(), each.blocks(), 1 << each.blockShift()))
                        .toList());
    }

    private void print(Drive drive) {
        var out = command.commandLine().getOut();
        if (output.isJson()) {
            out.println(Json.of(drive));
            return;
        }
        out.println(
                PrintableText.of(
                        "%s: %s, serial number %s, firmware %s, controller %d, %d °C, up to %,d bytes in a command"
                                .formatted(
                                        drive.name(),
                                        drive.model(),
                                        drive.serial(),
                                        drive.firmware(),
                                        drive.controller(),
                                        drive.temperatureCelsius(),
                                        drive.maxTransferBytes())));
        for (var namespace : drive.namespaces()) {
            out.printf(
                    "namespace %s: %,d blocks of %,d bytes%n",
                    Integer.toUnsignedString(namespace.id()),
                    namespace.blocks(),
                    namespace.blockBytes());
        }
    }
}
