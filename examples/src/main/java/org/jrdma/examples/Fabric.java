package org.jrdma.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.verbs.Verbs;

/**
 * Which libibverbs the examples use: the machine's own, or the software fabric, which is RDMA in
 * Java, where the machine has no RDMA device. They say so: nobody should take the one for the
 * other.
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
        var name = wanted.isEmpty() ? System.getProperty("jrdma.fabric", "") : wanted;
        return switch (name) {
            case "system" -> Verbs.system();
            case "software" -> software("as it was told to");
            case "" ->
                    hasDevice() ? Verbs.system() : software("as this machine has no RDMA device");
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

    private static Verbs software(String reason) throws IOException {
        IO.println("This runs on the software fabric, " + reason + ".");
        return Verbs.software();
    }
}
