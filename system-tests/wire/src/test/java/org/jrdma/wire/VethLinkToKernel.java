package org.jrdma.wire;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jrdma.processes.Program;
import org.jrdma.verbs.model.Mtu;

/**
 * The veth pair between two network namespaces: the namespace of this JVM, with the software
 * fabric, and the namespace of process 1, with rxe1. The script {@code in-namespace} creates the
 * pair.
 */
final class VethLinkToKernel {

    /** The kernel's RDMA device, on wire0. */
    static final String KERNEL_DEVICE = "rxe1";

    private static final int ETHERNET_MTU = 1500;
    private static final int JUMBO_MTU = 9000;

    private VethLinkToKernel() {}

    /** Configures the links for a maximum path MTU. */
    static void pathMtu(Mtu mtu) throws IOException, InterruptedException {
        var bytes = String.valueOf(mtu == Mtu.BYTES_1024 ? ETHERNET_MTU : JUMBO_MTU);
        run(atKernel("ip", "link", "set", "wire0", "mtu", bytes));
        run(List.of("ip", "link", "set", "wire1", "mtu", bytes));
    }

    /**
     * Applies faults with {@code tc netem} to the packets that one end of the wire sends.
     *
     * @param end wire0 for the kernel's end, or wire1
     */
    static void faults(String end, String netem) throws IOException, InterruptedException {
        var command =
                new ArrayList<>(List.of("tc", "qdisc", "replace", "dev", end, "root", "netem"));
        command.addAll(List.of(netem.split(" ")));
        run(at(end, command));
    }

    /** Takes the interface of the software fabric down or up. */
    static void softwareInterfaceUp(boolean up) throws IOException, InterruptedException {
        run(List.of("ip", "link", "set", "wire1", up ? "up" : "down"));
    }

    /** Removes the faults. */
    static void removeFaults() throws IOException, InterruptedException {
        for (var end : List.of("wire0", "wire1")) {
            var none = List.of("tc", "qdisc", "replace", "dev", end, "root", "pfifo");
            run(at(end, none));
        }
    }

    private static List<String> at(String end, List<String> command) {
        return end.equals("wire0") ? atKernel(command.toArray(String[]::new)) : command;
    }

    /**
     * Returns the command that runs a program at the kernel's end, in the namespace of process 1.
     */
    static List<String> atKernel(String... command) {
        var prefixed = new ArrayList<>(List.of("nsenter", "--net=/proc/1/ns/net"));
        prefixed.addAll(List.of(command));
        return prefixed;
    }

    /** Starts an example or interop program on the software fabric, with its arguments. */
    static Program startExample(Family family, String... words) throws IOException {
        var command =
                new ArrayList<>(
                        List.of(System.getProperty("jrdma.test.root") + "/jrdma", "example"));
        command.addAll(List.of(words));
        return Program.start(
                Map.of(
                        "JRDMA_JAVA_OPTIONS",
                        "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djrdma.fabric=software"
                                + " -Djrdma.soft.devices="
                                + family.software()),
                command);
    }

    private static void run(List<String> command) throws IOException, InterruptedException {
        try (var program = Program.start(command)) {
            if (program.await() != 0) {
                throw new IOException(program + ": " + program.output());
            }
        }
    }
}
