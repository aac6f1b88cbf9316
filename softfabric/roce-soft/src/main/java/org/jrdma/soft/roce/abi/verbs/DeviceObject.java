package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jrdma.abi.rdma.ibv_device;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.PathMtu;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.connection.ConnectionManager;
import org.jrdma.soft.roce.connection.ConnectionManagerDeviceServices;
import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.PacketListener;
import org.jrdma.soft.roce.network.Port;
import org.jrdma.soft.roce.network.PortOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The implementation of an {@code ibv_device}: a software device. The device is bound to its
 * address when a program opens it, and releases the address when the last context is closed. Safe
 * for use by multiple threads.
 */
public final class DeviceObject {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceObject.class);

    /**
     * The bit of an EUI-64 identifier that marks it as locally assigned, and not by a manufacturer.
     */
    private static final long LOCALLY_ADMINISTERED = 0x0200_0000_0000_0000L;

    private final String name;
    private final long guid;
    private final MemorySegment structure;

    /** The contexts that have the device open. */
    private final List<ContextObject> contexts = new ArrayList<>();

    private final XrcDomains xrcDomains = new XrcDomains();

    /** The candidate addresses, in the order in which they are tried. */
    private final List<RoceGid> addresses;

    /**
     * The address that the device had when it was last open. It is tried first, because peers may
     * remember it.
     */
    private @Nullable RoceGid lastAddress;

    private final boolean sharesMemory;
    private final RandomGenerator random;
    private @Nullable Port port;
    private @Nullable ConnectionManager connections;
    private NetworkFaults faults;

    /** The sum of the fault counts of the ports that were closed. */
    private NetworkFaultCounts closedPortFaultCounts = NetworkFaultCounts.NONE;

    private @Nullable PacketListener listener;
    private boolean linkUp = true;
    private long reservedBytes;

    /**
     * Creates a device that is not open.
     *
     * @param addresses the candidate addresses. When the device is opened, it uses its previous
     *     address if that is free, otherwise the first free address of this list
     * @param listener a listener for the packets of the device; null for none
     * @param sharesMemory true if packets to and from devices of this user's processes may pass
     *     through shared memory
     * @param random the random number generator for the GUID and the connection manager
     */
    public DeviceObject(
            String name,
            List<RoceGid> addresses,
            NetworkFaults faults,
            @Nullable PacketListener listener,
            boolean sharesMemory,
            RandomGenerator random) {
        this.sharesMemory = sharesMemory;
        this.name = name;
        this.addresses = List.copyOf(addresses);
        this.faults = faults;
        this.listener = listener;
        this.random = random;
        this.guid = random.nextLong() | LOCALLY_ADMINISTERED;
        this.structure = StructureRegistry.allocate(ibv_device.layout(), this);
        ibv_device.node_type(structure, rdma_h.IBV_NODE_CA());
        ibv_device.transport_type(structure, rdma_h.IBV_TRANSPORT_IB());
        ibv_device.name(structure).setString(0, name);
        ibv_device.dev_name(structure).setString(0, name);
        // The path that a device of the kernel would have in sysfs. No such directory exists.
        ibv_device.ibdev_path(structure).setString(0, "/sys/class/infiniband/" + name);
    }

    static DeviceObject of(long address) {
        return StructureRegistry.object(address, DeviceObject.class);
    }

    public String name() {
        return name;
    }

    long guid() {
        return guid;
    }

    public MemorySegment structure() {
        return structure;
    }

    /** The XRC domains of this device, which all its contexts share. */
    XrcDomains xrcDomains() {
        return xrcDomains;
    }

    /**
     * Opens the device for a context. The first context opens the port; further contexts share it.
     *
     * @param requested the address that the device must have; null if any candidate address is
     *     acceptable
     * @throws ErrnoException if the port cannot be opened, or the device is open with another
     *     address
     */
    synchronized Port open(ContextObject context, @Nullable RoceGid requested) {
        if (port == null) {
            var opened = openPort(requested);
            try {
                contexts.add(context);
            } catch (Throwable e) {
                opened.close();
                throw e;
            }
            port = opened;
            return opened;
        } else if (requested != null && !requested.equals(port.address())) {
            throw new ErrnoException(Errno.EADDRNOTAVAIL);
        }
        contexts.add(context);
        return port;
    }

    private Port openPort(@Nullable RoceGid requested) {
        ErrnoException.throwIf(addresses.isEmpty(), Errno.EADDRNOTAVAIL);
        try {
            var candidates =
                    requested != null
                            ? Stream.of(requested)
                            : Stream.concat(Stream.ofNullable(lastAddress), addresses.stream())
                                    .distinct();
            var opened = Port.openFirst(candidates.map(this::portOptions).toList());
            try {
                lastAddress = opened.address();
                opened.faults(withDeviceSeed(faults));
                opened.listen(listener);
                opened.linkUp(linkUp);
                connections = opened.control(engine -> startConnectionManager(opened, engine));
                LOG.info("Device {} has the address {}", name, opened.address());
                return opened;
            } catch (Throwable e) {
                opened.close();
                throw e;
            }
        } catch (FabricException e) {
            throw new ErrnoException(e.code(), e.getMessage());
        }
    }

    private PortOptions portOptions(RoceGid address) {
        return PortOptions.at(address).sharesMemory(sharesMemory);
    }

    private ConnectionManager startConnectionManager(Port opened, Engine engine) {
        var transport =
                new ConnectionManagerDeviceServices() {
                    @Override
                    public long now() {
                        return engine.now();
                    }

                    @Override
                    public void send(RoceGid remote, MemorySegment message) {
                        engine.sendManagement(remote, message);
                    }

                    @Override
                    public long packetsReceived(int number) {
                        var queuePair = engine.queuePair(number);
                        return queuePair == null || !queuePair.state().receives()
                                ? -1
                                : queuePair.packetsReceived();
                    }

                    @Override
                    public void probe(int number) {
                        var queuePair = engine.queuePair(number);
                        if (queuePair != null) {
                            queuePair.probe();
                        }
                    }
                };
        var manager =
                new ConnectionManager(
                        opened.address(), guid, PathMtu.code(opened.pathMtu()), transport, random);
        engine.management(opened.address(), manager);
        return manager;
    }

    /** The address of the device; null if no context has the device open. */
    public synchronized @Nullable RoceGid address() {
        return port == null ? null : port.address();
    }

    /** The address of the device if a context has it open; otherwise the candidate addresses. */
    public synchronized List<RoceGid> possibleAddresses() {
        return port == null ? addresses : List.of(port.address());
    }

    /**
     * The connection manager of the device, which may be called only inside {@link Port#control}.
     *
     * @throws ErrnoException with {@code ENODEV} if no context has the device open
     */
    public synchronized ConnectionManager connections() {
        if (connections == null) {
            throw new ErrnoException(Errno.ENODEV);
        }
        return connections;
    }

    /** Removes a context from the device. The last context closes the port. */
    synchronized void close(ContextObject context) {
        contexts.remove(context);
        if (contexts.isEmpty() && port != null) {
            port.close();
            closedPortFaultCounts = closedPortFaultCounts.plus(port.faultCounts());
            port = null;
            connections = null;
        }
    }

    /**
     * Reserves a part of the device memory.
     *
     * @throws ErrnoException with {@code ENOMEM} if less memory is free
     */
    synchronized void reserveMemory(long bytes) {
        ErrnoException.throwIf(bytes > DeviceMemoryObject.MAX_BYTES - reservedBytes, Errno.ENOMEM);
        reservedBytes += bytes;
    }

    synchronized void releaseMemory(long bytes) {
        reservedBytes -= bytes;
    }

    /** Sets the network faults that are injected into the packets sent from now on. */
    public synchronized void faults(NetworkFaults requested) {
        faults = requested;
        if (port != null) {
            port.faults(withDeviceSeed(requested));
        }
    }

    /**
     * Combines the seed of the network faults with the name of this device, because devices with
     * the same seed would lose the same packets.
     */
    private NetworkFaults withDeviceSeed(NetworkFaults requested) {
        return requested.seed(requested.seed() + ((long) name.hashCode() << Integer.SIZE));
    }

    /** The numbers of packets affected by network faults since this device was created. */
    public synchronized NetworkFaultCounts faultCounts() {
        return port == null
                ? closedPortFaultCounts
                : closedPortFaultCounts.plus(port.faultCounts());
    }

    /**
     * Sets the listener that is called for each packet of this device; null to remove the current
     * one.
     */
    public synchronized void listen(@Nullable PacketListener requested) {
        listener = requested;
        if (port != null) {
            port.listen(requested);
        }
    }

    synchronized boolean isLinkUp() {
        return linkUp;
    }

    /**
     * Sets the link state. If it changes, each context that has the device open receives an event.
     */
    public synchronized void linkUp(boolean up) {
        if (linkUp == up) {
            return;
        }
        linkUp = up;
        if (port != null) {
            port.linkUp(up);
        }
        var event =
                new AsyncEvent(
                        up ? rdma_h.IBV_EVENT_PORT_ACTIVE() : rdma_h.IBV_EVENT_PORT_ERR(),
                        DeviceLimits.PORT,
                        null);
        contexts.forEach(context -> context.raise(event));
    }

    @Override
    public String toString() {
        return name;
    }
}
