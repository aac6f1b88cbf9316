package org.jrdma.cli;

import java.util.concurrent.Callable;
import org.jrdma.cli.output.FabricDeviceId;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Permits or refuses new borrows of a device that a node of the SISCI software fabric lends. */
abstract sealed class SetLendAvailabilityCommand implements Callable<Integer> {

    /** The result, as the output has it. */
    record Changed(String device, boolean available) {}

    /** Permits new borrows. */
    @Command(
            name = "available",
            description =
                    "Permits new borrows of a device that a node of the SISCI software fabric lends.",
            mixinStandardHelpOptions = true)
    static final class Available extends SetLendAvailabilityCommand {
        Available() {
            super(true);
        }
    }

    /** Refuses new borrows. */
    @Command(
            name = "unavailable",
            description =
                    "Refuses new borrows of a device that a node of the SISCI software fabric lends. Current borrows continue.",
            mixinStandardHelpOptions = true)
    static final class Unavailable extends SetLendAvailabilityCommand {
        Unavailable() {
            super(false);
        }
    }

    private final boolean isAvailable;

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "ID",
            converter = FabricDeviceId.Converter.class,
            description = "The fabric device id, such as 0x401.")
    private long id;

    private SetLendAvailabilityCommand(boolean isAvailable) {
        this.isAvailable = isAvailable;
    }

    @Override
    public Integer call() throws FabricException {
        var library = new SoftSisci();
        try (var _ = Sisci.from(library).open()) { // joins the fabric
            if (isAvailable) {
                library.makeAvailable(id);
            } else {
                library.makeUnavailable(id);
            }
        }
        var changed = new Changed(FabricDeviceId.format(id), isAvailable);
        command.commandLine()
                .getOut()
                .println(
                        output.isJson()
                                ? Json.of(changed)
                                : "device %s: %s to further borrowers"
                                        .formatted(
                                                changed.device(),
                                                isAvailable ? "available" : "not available"));
        return 0;
    }
}
