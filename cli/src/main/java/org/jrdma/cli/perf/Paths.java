package org.jrdma.cli.perf;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;

/** All that can be measured, and what cannot be on this machine, with the reason. */
final class Paths {

    private Paths() {}

    /** Where what is measured comes from. */
    enum Fabric {
        SYSTEM,
        SOFTWARE;

        /** What a description says of it, so that nobody takes the one for the other. */
        String suffix() {
            return this == SOFTWARE ? ", on the software fabric" : "";
        }
    }

    /**
     * The paths of this machine.
     *
     * @param wanted of which fabric; else the machine's own, and the software fabrics where it has
     *     no device
     * @param device the RDMA device; else the first
     */
    static List<Path> all(Optional<Fabric> wanted, Optional<String> device) {
        var rdma = new RdmaPaths(rdmaFabric(wanted), device);
        var sisci = new SisciPaths(wanted.orElseGet(Paths::sisciFabric));
        return Stream.of(rdma.all(), sisci.all(), new SocketPaths(sisci, device).all())
                .flatMap(List::stream)
                .toList();
    }

    /** Where RDMA comes from. */
    static Fabric rdmaFabric(Optional<Fabric> wanted) {
        return wanted.orElseGet(Paths::rdmaFabric);
    }

    /** The machine's own device of a name, or the first. */
    static Device device(Optional<String> name) throws FabricException {
        var verbs = Verbs.system();
        return name.isPresent() ? verbs.open(name.get()) : verbs.openFirst();
    }

    private static Fabric rdmaFabric() {
        try {
            return Verbs.system().devices().isEmpty() ? Fabric.SOFTWARE : Fabric.SYSTEM;
        } catch (FabricException e) {
            return Fabric.SOFTWARE;
        }
    }

    private static Fabric sisciFabric() {
        try {
            Sisci.system().open().close();
            return Fabric.SYSTEM;
        } catch (FabricException e) { // no library, or no adapter
            return Fabric.SOFTWARE;
        }
    }

    /**
     * The one of a name.
     *
     * @throws IllegalArgumentException if there is none; the message lists the names that there are
     */
    static Path named(String name, List<Path> paths) {
        return paths.stream()
                .filter(path -> path.name().equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException(
                                "There is no \"%s\"; there are %s."
                                        .formatted(
                                                name,
                                                paths.stream()
                                                        .map(Path::name)
                                                        .collect(Collectors.joining(", ")))));
    }
}
