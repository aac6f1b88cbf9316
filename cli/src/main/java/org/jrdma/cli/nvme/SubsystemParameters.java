package org.jrdma.cli.nvme;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeFabrics;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The parameters and options of commands that connect to a subsystem. */
final class SubsystemParameters {

    @Parameters(
            index = "0",
            paramLabel = "TARGET",
            converter = AddressConverter.class,
            description = "The address of the target, with the port 4420 by default.")
    private InetSocketAddress target;

    @Parameters(
            index = "1",
            paramLabel = "NQN",
            description = "The qualified name of the subsystem, which the command discover lists.")
    private String name;

    @Mixin private HostOptions host;

    NvmeDrive connect() throws IOException {
        return NvmeFabrics.connect(target, name, host.options());
    }
}
