package org.jrdma.cli.perf;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The paths that the command can measure: operations over RDMA and SISCI, and socket transports.
 */
final class Paths {

    private Paths() {}

    /**
     * Selects where measurements run: on the native libraries of the system, or on the software
     * fabrics.
     */
    enum Fabric {
        SYSTEM,
        SOFTWARE;

        /** Returns a suffix that marks the software fabric in a description. */
        String suffix() {
            return this == SOFTWARE ? ", on the software fabric" : "";
        }
    }

    /** Parses the name of a fabric. */
    static final class FabricConverter implements ITypeConverter<Fabric> {
        @Override
        public Fabric convert(String text) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "system" -> Fabric.SYSTEM;
                case "software" -> Fabric.SOFTWARE;
                default ->
                        throw new TypeConversionException(
                                "\"%s\" is neither system nor software".formatted(text));
            };
        }
    }

    /**
     * Returns the paths of this machine, available or not.
     *
     * @param fabric the fabric; if empty, the native libraries are used, or the software fabric if
     *     this machine has no device
     * @param device the name of the RDMA device; if empty, the first device
     */
    static List<Path> all(Optional<Fabric> fabric, Optional<String> device) {
        var rdma = new RdmaPaths(rdmaFabric(fabric), device);
        var sisci = new SisciPaths(fabric.orElseGet(Paths::sisciFabric));
        return Stream.of(rdma.all(), sisci.all(), new SocketPaths(sisci, device).all())
                .flatMap(List::stream)
                .toList();
    }

    static Fabric rdmaFabric(Optional<Fabric> fabric) {
        return fabric.orElseGet(Paths::rdmaFabric);
    }

    /**
     * Opens an RDMA device of the native library: the one with the given name, or the first one if
     * the name is empty.
     */
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
        } catch (FabricException e) { // There is no library or no adapter.
            return Fabric.SOFTWARE;
        }
    }

    /**
     * Returns the path with a name.
     *
     * @throws IllegalArgumentException if there is no path with this name; the message lists the
     *     names
     */
    static Path named(String name, List<Path> paths) {
        return paths.stream()
                .filter(path -> path.name().equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException(
                                "There is no path \"%s\". The paths are %s."
                                        .formatted(
                                                name,
                                                paths.stream()
                                                        .map(Path::name)
                                                        .collect(Collectors.joining(", ")))));
    }
}
