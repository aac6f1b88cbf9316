package org.jrdma.cli.nvme;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import org.jrdma.nvme.Discovery;
import org.jrdma.nvme.NvmeFabrics;
import org.jrdma.nvme.model.DiscoveryEntry;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists the subsystems that a target, and those to which it refers, offer to this host. */
@Command(
        name = "discover",
        description =
                "Lists the subsystems that a target offers to this host. Follows its referrals to other targets.",
        mixinStandardHelpOptions = true)
public final class DiscoverCommand implements Callable<Integer> {

    /** The kind of a subsystem. */
    enum Kind {
        REFERRAL,
        NVM,
        DISCOVERY,
        UNKNOWN
    }

    /** A subsystem of a target, as the output has it. */
    record Subsystem(String name, Kind kind, String transport, String address, String port) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;
    @Mixin private HostOptions host;

    @Parameters(
            paramLabel = "TARGET",
            converter = AddressConverter.class,
            description = "The address of the target, with the port 4420 by default.")
    private InetSocketAddress target;

    @Override
    public Integer call() throws IOException {
        var discovery = NvmeFabrics.discoverAll(target, host.options());
        var subsystems = discovery.entries().stream().map(DiscoverCommand::subsystem).toList();
        discovery.unfollowed().forEach(this::printUnfollowed);
        var out = command.commandLine().getOut();
        if (output.isJson()) {
            out.println(Json.of(subsystems));
        } else {
            print(subsystems);
        }
        return 0;
    }

    private void printUnfollowed(Discovery.UnfollowedReferral unfollowed) {
        var referral = subsystem(unfollowed.referral());
        command.commandLine()
                .getErr()
                .println(
                        PrintableText.of(
                                "Cannot follow the referral to %s, port %s, by %s: %s"
                                        .formatted(
                                                referral.address(),
                                                referral.port(),
                                                referral.transport(),
                                                unfollowed.reason())));
    }

    private void print(List<Subsystem> subsystems) {
        var out = command.commandLine().getOut();
        if (subsystems.isEmpty()) {
            out.println("The target offers no subsystem to this host.");
        }
        for (var subsystem : subsystems) {
            out.println(
                    PrintableText.of(
                            "%s  %s at %s, port %s, by %s"
                                    .formatted(
                                            subsystem.name(),
                                            Json.name(subsystem.kind()),
                                            subsystem.address(),
                                            subsystem.port(),
                                            subsystem.transport())));
        }
    }

    private static Subsystem subsystem(DiscoveryEntry entry) {
        return new Subsystem(
                entry.subsystemName(),
                switch (entry.kind()) {
                    case DiscoveryEntry.REFERRAL -> Kind.REFERRAL;
                    case DiscoveryEntry.NVM_SUBSYSTEM -> Kind.NVM;
                    case DiscoveryEntry.THIS_DISCOVERY -> Kind.DISCOVERY;
                    default -> Kind.UNKNOWN;
                },
                switch (entry.transport()) {
                    case DiscoveryEntry.RDMA -> "rdma";
                    case DiscoveryEntry.TCP -> "tcp";
                    default -> "transport " + entry.transport();
                },
                entry.address(),
                entry.service());
    }
}
