package org.jrdma.interop.devinfo;

import java.io.IOException;
import org.jrdma.interop.AbstractRdmaCoreToolProgram;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.DeviceDescription;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Prints the attributes of this machine's RDMA devices in the format of {@code ibv_devinfo} of
 * rdma-core, so that scripts can read the output of both.
 */
@Command(name = "devinfo", description = "The RDMA devices and their capabilities, as ibv_devinfo")
public final class DevInfo extends AbstractRdmaCoreToolProgram {

    @Option(
            names = {"-d", "--ib-dev"},
            paramLabel = "DEVICE",
            description = "the RDMA device (default: all)")
    private String device = "";

    @Option(
            names = {"-i", "--ib-port"},
            paramLabel = "PORT",
            description = "the port of the device (default: all)")
    private Integer port;

    @Option(
            names = {"-l", "--list"},
            description = "only the names of the devices")
    private boolean list;

    @Option(
            names = {"-v", "--verbose"},
            description = "all attributes of a device")
    private boolean verbose;

    static void main(String... arguments) {
        new DevInfo().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        if (port != null && port <= 0) {
            throw usageError("port numbers start at 1, so there is no port %d".formatted(port));
        }
        var verbs = verbs();
        var names = verbs.devices().stream().map(DeviceDescription::name).toList();
        if (list) {
            IO.println("%d HCA%s found:".formatted(names.size(), names.size() == 1 ? "" : "s"));
            names.forEach(name -> IO.println("\t" + name));
            IO.println();
        } else if (!device.isEmpty()) {
            describe(verbs, device);
        } else if (names.isEmpty()) {
            verbs.openFirst().close(); // Fails with a message that contains the fix.
        } else {
            for (var name : names) {
                describe(verbs, name);
            }
        }
    }

    private void describe(Verbs verbs, String name) throws IOException {
        try (var opened = verbs.open(name)) {
            IO.print(new Report(opened, verbose).of(port == null ? 0 : port));
        }
    }
}
