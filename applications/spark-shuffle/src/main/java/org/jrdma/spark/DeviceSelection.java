package org.jrdma.spark;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.GidRanking;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Selects the RDMA device of this executor, and the address at which other executors reach it.
 *
 * <p>By default, this is the first device that has an active port with an IP address. The IP
 * addresses of InfiniBand and iWARP devices are unknown to libibverbs: the user specifies an
 * address or a subnet, and the connection manager finds the device of the address.
 */
final class DeviceSelection {

    /** An open device, and one of its addresses. The caller closes the device. */
    record Selected(Device device, InetAddress address) {}

    private static final Logger LOG = LoggerFactory.getLogger(DeviceSelection.class);

    private static final String REMEDY =
            "Set %s to the address or the subnet of the RDMA network, which is required on InfiniBand and iWARP."
                    .formatted(ShuffleSettings.ADDRESS);

    private final Verbs verbs;
    private final ConnectionManager connections;

    DeviceSelection(Verbs verbs, ConnectionManager connections) {
        this.verbs = verbs;
        this.connections = connections;
    }

    /**
     * Opens the device.
     *
     * @param name the name of the device; empty for any device
     * @param range the addresses, one of which the device must have; empty for any address
     * @throws IOException if there is no such device; the message contains a fix
     */
    Selected select(Optional<String> name, Optional<AddressRange> range) throws IOException {
        if (range.isPresent()) {
            return selectByAddress(name, range.get());
        }
        return name.isPresent() ? selectByName(name.get()) : selectFirst();
    }

    private Selected selectFirst() throws IOException {
        var unsuitable = new ArrayList<String>();
        for (var description : verbs.devices()) {
            try {
                var selected = open(description.name(), DeviceSelection::activeAddresses);
                if (selected.isPresent()) {
                    return selected.get();
                }
                unsuitable.add(description.name());
            } catch (VerbsException e) {
                unsuitable.add("%s (%s)".formatted(description.name(), e.getMessage()));
            }
        }
        if (unsuitable.isEmpty()) {
            verbs.openFirst().close(); // Throws an exception that explains how to get a device.
        }
        throw new IOException(
                "No RDMA device has an active port with a known IP address: %s. %s"
                        .formatted(String.join(", ", unsuitable), REMEDY));
    }

    private Selected selectByName(String name) throws IOException {
        return open(name, DeviceSelection::preferredAddresses)
                .orElseThrow(() ->
                        new IOException(
                                "The IP address of the RDMA device %s is unknown. %s"
                                        .formatted(name, REMEDY)));
    }

    private interface AddressSource {
        List<InetAddress> find(Device device) throws VerbsException;
    }

    /** Opens a device, unless it has no address. */
    private Optional<Selected> open(String name, AddressSource source) throws VerbsException {
        var device = verbs.open(name);
        try {
            var address = source.find(device).stream().findFirst();
            if (address.isEmpty()) {
                device.close();
            }
            return address.map(found -> new Selected(device, found));
        } catch (Throwable e) {
            device.close();
            throw e;
        }
    }

    /** Returns the addresses of active ports, or of all ports if there are none. */
    private static List<InetAddress> preferredAddresses(Device device) throws VerbsException {
        var active = activeAddresses(device);
        return active.isEmpty() ? allAddresses(device) : active;
    }

    private static List<InetAddress> activeAddresses(Device device) throws VerbsException {
        return addresses(
                device.attributes().ports(),
                port ->
                        device.port(port).state() == PortAttributes.State.ACTIVE
                                ? device.chooseGid(port)
                                : GidRanking.among(List.of()));
    }

    private static List<InetAddress> allAddresses(Device device) throws VerbsException {
        return addresses(device.attributes().ports(), device::chooseGid);
    }

    /** Ranks the GIDs of a port. */
    interface GidSource {
        GidRanking rank(int port) throws VerbsException;
    }

    /** Returns the addresses of all ports that do not fail, the best address of a port first. */
    static List<InetAddress> addresses(int ports, GidSource gids) {
        var addresses = new ArrayList<InetAddress>();
        for (var port = 1; port <= ports; port++) {
            try {
                for (var ranked : gids.rank(port).ranking()) {
                    ranked.entry().ipAddress().ifPresent(addresses::add);
                }
            } catch (VerbsException e) {
                LOG.warn("Cannot read the addresses of port {}", port, e);
            }
        }
        return addresses;
    }

    private Selected selectByAddress(Optional<String> name, AddressRange range) throws IOException {
        var candidates = range.isSingle() ? Set.of(range.network()) : localAddresses(range);
        var failure = new IOException(noDeviceAt(name, range, candidates));
        for (var candidate : candidates) {
            try {
                var device = deviceAt(candidate);
                if (name.isEmpty() || name.get().equals(device)) {
                    return new Selected(verbs.open(device), candidate);
                }
            } catch (VerbsException e) {
                failure.addSuppressed(e);
            }
        }
        throw failure;
    }

    private static String noDeviceAt(
            Optional<String> name, AddressRange range, Set<InetAddress> candidates) {
        var addresses =
                range.isSingle()
                        ? ""
                        : " Addresses of this machine in this range: %s."
                                .formatted(
                                        candidates.stream()
                                                .map(InetAddress::getHostAddress)
                                                .toList());
        return "%s %s %s.%s %s"
                .formatted(
                        name.map("The RDMA device %s does not have"::formatted)
                                .orElse("No RDMA device has"),
                        range.isSingle() ? "the address" : "an address in",
                        range,
                        addresses,
                        REMEDY);
    }

    /** Returns the device that the connection manager selects for an address. */
    private String deviceAt(InetAddress address) throws VerbsException {
        try (var channel = connections.newEventChannel();
                var identifier = channel.newIdentifier(PortSpace.TCP)) {
            identifier.bind(new InetSocketAddress(address, 0));
            return identifier
                    .deviceName()
                    .orElseThrow(() ->
                            new VerbsException(
                                    "rdma_bind_addr",
                                    "No RDMA device has " + address.getHostAddress()));
        }
    }

    /** The addresses of this machine's devices and network interfaces in a range. */
    private Set<InetAddress> localAddresses(AddressRange range) throws IOException {
        var addresses = new LinkedHashSet<InetAddress>();
        for (var description : verbs.devices()) {
            try (var device = verbs.open(description.name())) {
                addresses.addAll(allAddresses(device));
            } catch (VerbsException e) {
                LOG.debug("Cannot read the addresses of {}", description, e);
            }
        }
        NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress()) // bound to any RDMA device
                .forEach(addresses::add);
        addresses.removeIf(address -> !range.contains(address));
        return addresses;
    }
}
