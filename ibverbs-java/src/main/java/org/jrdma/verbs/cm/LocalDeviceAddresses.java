package org.jrdma.verbs.cm;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** The local RDMA devices of a connection manager and their IP addresses. */
final class LocalDeviceAddresses {

    /** Opens the libibverbs that a librdmacm uses. */
    @FunctionalInterface
    interface Source {
        Verbs open() throws LibraryNotFoundException;
    }

    private final Source source;
    private @Nullable Verbs verbs;

    LocalDeviceAddresses(Source source) {
        this.source = source;
    }

    private synchronized Verbs verbs() throws LibraryNotFoundException {
        if (verbs == null) {
            verbs = source.open();
        }
        return verbs;
    }

    /**
     * Returns a sentence with the names of the devices, for an exception message. Returns an empty
     * string if the devices cannot be listed.
     */
    String sentence() {
        try {
            var names =
                    verbs().devices().stream()
                            .map(DeviceDescription::name)
                            .collect(Collectors.joining(", "));
            return names.isEmpty()
                    ? " This machine has no RDMA device."
                    : " The local RDMA devices are: %s.".formatted(names);
        } catch (LibraryNotFoundException | VerbsException | IllegalStateException e) {
            return ""; // An exception here would hide the failure that the caller reports.
        }
    }

    /**
     * Returns the IP addresses of all devices, or an empty set if the addresses of any device are
     * unknown; see {@link #addresses(Device)}.
     */
    Set<InetAddress> addresses() {
        var addresses = new LinkedHashSet<InetAddress>();
        try {
            for (var description : verbs().devices()) {
                try (var device = verbs().open(description.name())) {
                    var known = addresses(device);
                    if (known.isEmpty()) {
                        return Set.of(); // An incomplete list would be misleading.
                    }
                    addresses.addAll(known);
                } catch (VerbsException e) {
                    // Skips the device: a process that cannot open it cannot listen at it.
                }
            }
        } catch (LibraryNotFoundException | VerbsException e) {
            return Set.of();
        }
        return addresses;
    }

    /**
     * Returns the IP addresses of a device. On RoCE, they are derived from the GID table. On
     * InfiniBand and iWARP, the list is empty. Link-local addresses are omitted because they are
     * valid only together with an interface.
     */
    static List<InetAddress> addresses(Device device) throws VerbsException {
        var addresses = new LinkedHashSet<InetAddress>();
        for (var port = 1; port <= device.attributes().ports(); port++) {
            for (var entry : device.gids(port)) {
                entry.ipAddress().ifPresent(addresses::add);
            }
        }
        return List.copyOf(addresses);
    }

    /** Returns true if both addresses are IPv4 addresses, or both are IPv6 addresses. */
    static boolean isSameFamily(InetAddress one, InetAddress other) {
        return one instanceof Inet6Address == other instanceof Inet6Address;
    }
}
