package org.jrdma.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.Transports;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.GidChoice;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;

/**
 * What there is to send data with, in hardware and in software.
 *
 * @param rdma where RDMA devices come from
 * @param sisci where PCIe adapters come from
 * @param sockets the transports of sockets, in the order in which they are tried
 */
record Devices(List<RdmaLibrary> rdma, List<SisciLibrary> sisci, List<SocketTransport> sockets) {

    /**
     * A libibverbs.
     *
     * @param fabric what {@code -Djrdma.fabric} calls it
     * @param library where it was found; empty where it was not
     * @param missing why there is none, or none of its devices
     */
    record RdmaLibrary(
            String fabric,
            Optional<String> library,
            Optional<String> missing,
            List<RdmaDevice> devices) {}

    /** One of its devices, or why it cannot be used. */
    record RdmaDevice(
            String name,
            String node,
            String transport,
            Optional<String> problem,
            List<Port> ports) {}

    /** A port, with the addresses that it can send from, best first. */
    record Port(int number, String state, String link, int mtu, List<Address> addresses) {}

    /** A row of the port's GID table, and what is thought of it. */
    record Address(int index, String gid, String type, String netDevice, String reason) {}

    /** A libsisci, and this machine's nodes by its adapters. */
    record SisciLibrary(
            String fabric,
            Optional<String> library,
            Optional<String> missing,
            List<Adapter> adapters) {}

    /** An adapter, and which node it makes of this machine. */
    record Adapter(int number, int node, Optional<Boolean> linkOperational) {}

    /** A way that sockets can take, or why they cannot take it here and now. */
    record SocketTransport(String name, Optional<String> missing) {}

    /** Looks. */
    static Devices ofThisMachine() {
        return new Devices(
                List.of(rdma("system", Verbs::system), rdma("software", Verbs::software)),
                List.of(sisci("system", Sisci::system), sisci("software", Sisci::software)),
                transports());
    }

    private static List<SocketTransport> transports() {
        return Stream.of(
                        Transports.supersockets(),
                        Transports.sisci(),
                        Transports.rsocket(),
                        Transports.smc(),
                        Transports.tcp())
                .map(transport -> new SocketTransport(transport.name(), transport.whyNot()))
                .toList();
    }

    @FunctionalInterface
    private interface Library<T> {
        T open() throws LibraryNotFoundException;
    }

    private static RdmaLibrary rdma(String fabric, Library<Verbs> library) {
        try {
            var verbs = library.open();
            var devices = new ArrayList<RdmaDevice>();
            for (var description : verbs.devices()) {
                devices.add(
                        rdmaDevice(
                                verbs,
                                description.name(),
                                description.nodeType().toString(),
                                description.transportType()));
            }
            return new RdmaLibrary(
                    fabric,
                    Optional.of(verbs.toString()),
                    devices.isEmpty()
                            ? Optional.of("this machine has no RDMA device")
                            : Optional.empty(),
                    devices);
        } catch (FabricException e) {
            return new RdmaLibrary(
                    fabric, Optional.empty(), Optional.of(e.getMessage()), List.of());
        }
    }

    private static RdmaDevice rdmaDevice(
            Verbs verbs, String name, String node, TransportType transport) {
        try (var device = verbs.open(name)) {
            var ports = new ArrayList<Port>();
            for (var number = 1; number <= device.attributes().ports(); number++) {
                ports.add(port(device, number));
            }
            return new RdmaDevice(name, node, transport.toString(), Optional.empty(), ports);
        } catch (VerbsException e) {
            return new RdmaDevice(
                    name, node, transport.toString(), Optional.of(e.getMessage()), List.of());
        }
    }

    private static Port port(Device device, int number) throws VerbsException {
        var attributes = device.port(number);
        return new Port(
                number,
                attributes.state().toString(),
                attributes.linkLayer().toString(),
                attributes.activeMtu().bytes(),
                device.chooseGid(number).ranking().stream().map(Devices::address).toList());
    }

    private static Address address(GidChoice.Ranked ranked) {
        var entry = ranked.entry();
        return new Address(
                entry.index(),
                entry.gid().toString(),
                entry.type().toString(),
                entry.netDevice(),
                ranked.reason());
    }

    private static SisciLibrary sisci(String fabric, Library<Sisci> library) {
        try {
            var sisci = library.open();
            var adapters = new ArrayList<Adapter>();
            try (var node = sisci.open()) {
                for (var adapter : node.adapters()) {
                    adapters.add(
                            new Adapter(
                                    adapter.number(), adapter.nodeId(), isOperational(adapter)));
                }
            }
            return new SisciLibrary(
                    fabric, Optional.of(sisci.toString()), Optional.empty(), adapters);
        } catch (FabricException e) {
            return new SisciLibrary(
                    fabric, Optional.empty(), Optional.of(e.getMessage()), List.of());
        }
    }

    /** Nothing where the library does not tell. */
    private static Optional<Boolean> isOperational(org.jrdma.sisci.Adapter adapter)
            throws FabricException {
        try {
            return Optional.of(adapter.isLinkOperational(0));
        } catch (UnsupportedOperationException e) {
            return Optional.empty();
        }
    }
}
