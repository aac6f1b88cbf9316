package org.jrdma.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.sisci.Sisci;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;

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
    public record WithConnections(Verbs verbs, ConnectionManager connections) {}

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
