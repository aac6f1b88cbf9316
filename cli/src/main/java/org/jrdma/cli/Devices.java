package org.jrdma.cli;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jrdma.cli.output.FabricDeviceId;
import org.jrdma.cli.output.Json;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.SmartIo;
import org.jrdma.sockets.Transports;
import org.jrdma.soft.sisci.ListedDevice;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.GidRanking;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.NodeType;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;

/**
 * The devices and transports that can be used on this machine, in hardware and in software.
 *
 * @param rdma the libibverbs implementations
 * @param sisci the libsisci implementations
 * @param sockets the socket transports in order of preference
 */
record Devices(List<RdmaLibrary> rdma, List<SisciLibrary> sisci, List<SocketTransport> sockets) {

    /**
     * A libibverbs implementation and its devices.
     *
     * @param fabric the value of {@code -Djrdma.fabric} that selects it
     * @param library the file or the software fabric; empty if it was not found
     * @param missing the reason why there is no library or no device; empty if both exist
     */
    record RdmaLibrary(
            String fabric,
            Optional<String> library,
            Optional<String> missing,
            List<RdmaDevice> devices) {}

    /**
     * An RDMA device.
     *
     * @param problem the reason why the device cannot be opened; empty if it can be opened
     */
    record RdmaDevice(
            String name,
            NodeType node,
            TransportType transport,
            Optional<String> problem,
            List<Port> ports) {}

    /** A port and its source addresses, in the order of preference. */
    record Port(
            int number,
            PortAttributes.State state,
            LinkLayer link,
            int mtu,
            List<Address> addresses) {}

    /**
     * An entry of the port's GID table, and the reason for its place in the order of preference.
     */
    record Address(int index, String gid, GidEntry.Type type, String netDevice, String reason) {}

    /**
     * A libsisci implementation and its adapters.
     *
     * @param lentDevices the devices that nodes of the fabric lend, if they can be listed
     */
    record SisciLibrary(
            String fabric,
            Optional<String> library,
            Optional<String> missing,
            List<Adapter> adapters,
            List<LentDevice> lentDevices) {}

    /**
     * A SISCI adapter.
     *
     * @param node the ID of this machine's node
     * @param linkOperational true if the link is operational; empty if the library does not report
     *     the state of the link
     */
    record Adapter(int number, int node, Optional<Boolean> linkOperational) {}

    /**
     * A device that a node lends. Only the library of the software fabric describes a device.
     *
     * @param id the fabric device id in hexadecimal, for example 0x401
     */
    record LentDevice(String id, Optional<Lending> lending) {

        /** Returns a line for the output. */
        String text() {
            return id + lending.map(state -> ": " + text(state)).orElse("");
        }

        private static String text(Lending lending) {
            var use =
                    lending.mode()
                            .map(mode ->
                                    "%s, borrows: %d, by %s %s"
                                            .formatted(
                                                    Json.name(mode),
                                                    lending.borrows(),
                                                    lending.borrows() == 1 ? "node" : "nodes",
                                                    lending.borrowers().stream()
                                                            .map(String::valueOf)
                                                            .collect(joining(", "))))
                            .orElse("not borrowed");
            return "%s, lent by node %d, %s%s"
                    .formatted(
                            lending.name(),
                            lending.lender(),
                            use,
                            lending.available() ? "" : ", not available to further borrowers");
        }
    }

    /**
     * The state of a device that a node lends.
     *
     * @param name the name of the device
     * @param lender the id of the node that lends it
     * @param available true if the lender permits new borrows
     * @param mode the mode of the borrows; empty if it is not borrowed
     * @param borrows the number of current borrows
     * @param borrowers the id of the node of each borrow
     */
    record Lending(
            String name,
            int lender,
            boolean available,
            Optional<BorrowMode> mode,
            int borrows,
            List<Integer> borrowers) {}

    /**
     * A socket transport.
     *
     * @param missing the reason why it is unavailable; empty if it is available
     */
    record SocketTransport(String name, Optional<String> missing) {}

    /** Finds the devices and transports of this machine. */
    static Devices ofThisMachine() {
        return new Devices(
                List.of(rdma("system", Verbs::system), rdma("software", Verbs::software)),
                List.of(sisci("system", Sisci::system, Devices::lentDevices), softSisci()),
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
                devices.add(rdmaDevice(verbs, description));
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

    private static RdmaDevice rdmaDevice(Verbs verbs, DeviceDescription description) {
        var ports = new ArrayList<Port>();
        var problem = Optional.<String>empty();
        try (var device = verbs.open(description.name())) {
            for (var number = 1; number <= device.attributes().ports(); number++) {
                ports.add(port(device, number));
            }
        } catch (VerbsException e) {
            ports.clear();
            problem = Optional.of(e.getMessage());
        }
        return new RdmaDevice(
                description.name(),
                description.nodeType(),
                description.transportType(),
                problem,
                ports);
    }

    private static Port port(Device device, int number) throws VerbsException {
        var attributes = device.port(number);
        return new Port(
                number,
                attributes.state(),
                attributes.linkLayer(),
                attributes.activeMtu().bytes(),
                device.chooseGid(number).ranking().stream().map(Devices::address).toList());
    }

    private static Address address(GidRanking.Ranked ranked) {
        var entry = ranked.entry();
        return new Address(
                entry.index(),
                entry.gid().toString(),
                entry.type(),
                entry.netDevice(),
                ranked.reason());
    }

    /** Lists the lent devices of the fabric of a node. */
    @FunctionalInterface
    private interface LentDevices {
        List<LentDevice> list(Node node) throws FabricException;
    }

    private static SisciLibrary softSisci() {
        var library = new SoftSisci();
        return sisci("software", () -> Sisci.from(library), _ -> lentDevices(library));
    }

    /** Lists the devices that nodes of the software fabric lend. */
    static List<LentDevice> lentDevices(SoftSisci library) throws FabricException {
        return library.devices().stream().map(Devices::lentDevice).toList();
    }

    private static LentDevice lentDevice(ListedDevice device) {
        return new LentDevice(
                FabricDeviceId.format(device.fabricDeviceId()),
                Optional.of(
                        new Lending(
                                device.identity().name(),
                                device.lender(),
                                device.isAvailable(),
                                mode(device),
                                device.borrows(),
                                device.borrowers())));
    }

    private static Optional<BorrowMode> mode(ListedDevice device) {
        if (device.borrows() == 0) {
            return Optional.empty();
        }
        return Optional.of(device.isExclusive() ? BorrowMode.EXCLUSIVE : BorrowMode.SHARED);
    }

    private static SisciLibrary sisci(String fabric, Library<Sisci> library, LentDevices devices) {
        try {
            var sisci = library.open();
            var adapters = new ArrayList<Adapter>();
            List<LentDevice> lentDevices;
            try (var node = sisci.open()) {
                for (var adapter : node.adapters()) {
                    adapters.add(
                            new Adapter(
                                    adapter.number(), adapter.nodeId(), isOperational(adapter)));
                }
                lentDevices = devices.list(node);
            }
            return new SisciLibrary(
                    fabric, Optional.of(sisci.toString()), Optional.empty(), adapters, lentDevices);
        } catch (FabricException e) {
            return new SisciLibrary(
                    fabric, Optional.empty(), Optional.of(e.getMessage()), List.of(), List.of());
        }
    }

    /** Lists the devices that nodes lend. Returns an empty list if the library has no SmartIO. */
    private static List<LentDevice> lentDevices(Node node) {
        try {
            return SmartIo.of(node).devices().stream()
                    .map(device ->
                            new LentDevice(FabricDeviceId.format(device.id()), Optional.empty()))
                    .toList();
        } catch (FabricException | UnsupportedOperationException e) {
            return List.of();
        }
    }

    private static Optional<Boolean> isOperational(org.jrdma.sisci.Adapter adapter)
            throws FabricException {
        try {
            return Optional.of(adapter.isLinkOperational(0));
        } catch (UnsupportedOperationException e) {
            return Optional.empty();
        }
    }
}
