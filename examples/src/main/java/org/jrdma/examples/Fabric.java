package org.jrdma.examples;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.stream.Stream;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.sisci.Sisci;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.model.GidEntry;

/**
 * Which libibverbs or libsisci the examples use: the machine's own, or the software fabric, which
 * is RDMA, or SISCI, in Java, where the machine has no device. They say so: nobody should take the
 * one for the other.
 */
public final class Fabric {

    private Fabric() {}

    /**
     * Chooses.
     *
     * @param wanted "system", "software", or nothing: then the system property jrdma.fabric
     *     decides, and without that the machine
     */
    public static Verbs choose(String wanted) throws IOException {
        return choosesSoftware(wanted) ? Verbs.software() : Verbs.system();
    }

    /** The same, with the connection manager beside it. */
    public static WithConnections chooseWithConnections(String wanted) throws IOException {
        return choosesSoftware(wanted)
                ? new WithConnections(Verbs.software(), ConnectionManager.software())
                : new WithConnections(Verbs.system(), ConnectionManager.system());
    }

    /** Two libraries with the same devices. */
    public record WithConnections(Verbs verbs, ConnectionManager connections) {

        /**
         * Where others find a listener, in words. At the wildcard address that is at each device of
         * this machine.
         */
        public String place(InetSocketAddress listener) throws IOException {
            var place = "port " + listener.getPort() + " of ";
            if (!listener.getAddress().isAnyLocalAddress()) {
                return place + listener.getAddress().getHostAddress();
            }
            var addresses = new ArrayList<String>();
            for (var description : verbs.devices()) {
                try (var device = verbs.open(description.name())) {
                    addresses(device)
                            .map(InetAddress::getHostAddress)
                            .forEach(address ->
                                    addresses.add("%s (%s)".formatted(address, device.name())));
                }
            }
            return place + String.join(", ", addresses);
        }

        /** Those of IPv4; iWARP names the network interface only. */
        private static Stream<InetAddress> addresses(Device device) throws IOException {
            var rows = new ArrayList<GidEntry>();
            for (var port = 1; port <= device.attributes().ports(); port++) {
                rows.addAll(device.gids(port));
            }
            var own = rows.stream().flatMap(row -> row.gid().ipv4().stream()).distinct().toList();
            return own.isEmpty()
                    ? rows.stream().flatMap(WithConnections::ofInterface)
                    : own.stream();
        }

        private static Stream<InetAddress> ofInterface(GidEntry row) {
            try {
                var netDevice = NetworkInterface.getByName(row.netDevice());
                return netDevice == null
                        ? Stream.empty()
                        : netDevice.inetAddresses().filter(Inet4Address.class::isInstance);
            } catch (SocketException _) {
                return Stream.empty();
            }
        }
    }

    /** Chooses a libsisci in the same way. */
    public static Sisci chooseSisci(String wanted) throws IOException {
        return choosesSoftware(wanted, Fabric::hasSisci, "libsisci")
                ? Sisci.software()
                : Sisci.system();
    }

    private static boolean choosesSoftware(String wanted) throws IOException {
        return choosesSoftware(wanted, Fabric::hasDevice, "RDMA device");
    }

    @FunctionalInterface
    private interface Presence {
        boolean isGiven() throws IOException;
    }

    private static boolean choosesSoftware(String wanted, Presence hardware, String what)
            throws IOException {
        var name = wanted.isEmpty() ? System.getProperty("jrdma.fabric", "") : wanted;
        return switch (name) {
            case "system" -> false;
            case "software" -> software("as it was told to");
            case "" -> !hardware.isGiven() && software("as this machine has no " + what);
            default ->
                    throw new IllegalArgumentException(
                            "The fabric can be system or software, not \"%s\".".formatted(name));
        };
    }

    private static boolean hasDevice() throws IOException {
        try {
            return !Verbs.system().devices().isEmpty();
        } catch (LibraryNotFoundException e) {
            if (Files.exists(Path.of("/sys/class/infiniband"))) {
                throw e; // the kernel knows RDMA: what is missing is the library, and this says it
            }
            return false;
        }
    }

    private static boolean hasSisci() throws IOException {
        try {
            Sisci.system();
            return true;
        } catch (LibraryNotFoundException e) {
            if (Files.exists(Path.of("/opt/DIS"))) {
                throw e; // Dolphin's software is there: what is wrong is the library
            }
            return false;
        }
    }

    private static boolean software(String reason) {
        IO.println("This runs on the software fabric, " + reason + ".");
        return true;
    }
}
