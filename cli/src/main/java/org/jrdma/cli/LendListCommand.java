package org.jrdma.cli;

import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the devices that nodes of the SISCI software fabric lend. */
@Command(
        name = "list",
        description =
                "Lists the devices that nodes of the SISCI software fabric lend: the id, the name, the lender, the mode of the borrows, and the nodes of the borrowers.",
        mixinStandardHelpOptions = true)
final class LendListCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Override
    public Integer call() throws FabricException {
        var library = new SoftSisci();
        try (var _ = Sisci.from(library).open()) { // joins the fabric
            var devices = Devices.lentDevices(library);
            var out = command.commandLine().getOut();
            if (output.isJson()) {
                out.println(Json.of(devices));
            } else if (devices.isEmpty()) {
                out.println("No node of the fabric lends a device.");
            } else {
                devices.forEach(device -> out.println("device " + device.text()));
            }
        }
        return 0;
    }
}
