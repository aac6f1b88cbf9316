package org.jrdma.verbs.cm;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** The devices that a connection manager connects, for choices and for messages. */
final class LocalDevices {

    /** Opens the libibverbs that belongs to a librdmacm. */
    @FunctionalInterface
    interface Source {
        Verbs open() throws LibraryNotFoundException;
    }

    private final Source source;
    private @Nullable Verbs verbs;

    LocalDevices(Source source) {
        this.source = source;
    }

    private synchronized Verbs verbs() throws LibraryNotFoundException {
        if (verbs == null) {
            verbs = source.open();
        }
        return verbs;
    }

    /** The names of the devices as a sentence for a message; empty if they cannot be listed. */
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
            return ""; // the message has its own subject
        }
    }

    /**
     * The IP addresses of all devices; empty if those of a device are not known.
     *
     * @see #addresses(Device)
     */
    Set<InetAddress> addresses() {
        var addresses = new LinkedHashSet<InetAddress>();
        try {
            for (var description : verbs().devices()) {
                try (var device = verbs().open(description.name())) {
                    var known = addresses(device);
                    if (known.isEmpty()) {
                        return Set.of(); // the others alone would be half of the truth
                    }
                    addresses.addAll(known);
                }
            }
        } catch (LibraryNotFoundException | VerbsException e) {
            return addresses; // a device that cannot be opened has no listeners here
        }
        return addresses;
    }

    /**
     * The IP addresses of a device: on RoCE its GIDs are IP addresses. Empty on InfiniBand and
     * iWARP. Link-local addresses are left out, because they need an interface.
     */
    static List<InetAddress> addresses(Device device) throws VerbsException {
        var addresses = new LinkedHashSet<InetAddress>();
        for (var port = 1; port <= device.attributes().ports(); port++) {
            for (var entry : device.gids(port)) {
                if (entry.type() == GidType.ROCE_V2 && !entry.gid().isLinkLocal()) {
                    addresses.add(address(entry.gid()));
                }
            }
        }
        return List.copyOf(addresses);
    }

    private static InetAddress address(Gid gid) {
        return gid.ipv4()
                .orElseGet(() -> {
                    var bytes = ByteBuffer.allocate(2 * Long.BYTES);
                    bytes.putLong(gid.prefix()).putLong(gid.interfaceId());
                    try {
                        return InetAddress.getByAddress(bytes.array());
                    } catch (UnknownHostException e) {
                        throw new AssertionError("16 bytes are an address", e);
                    }
                });
    }

    /** Whether both addresses are of IPv6, or both of IPv4. */
    static boolean isOfOneFamily(InetAddress one, InetAddress other) {
        return one instanceof Inet6Address == other instanceof Inet6Address;
    }
}
