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
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.connection.ConnectionManager;
import org.jrdma.soft.roce.connection.ManagementTransport;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.PacketListener;
import org.jrdma.soft.roce.network.Port;
import org.jrdma.soft.roce.network.PortOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The object of an {@code ibv_device}: a software device. Its address is bound when a program opens
 * the device, and released when the last context is closed.
 */
public final class DeviceObject {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceObject.class);

    /** The bit of an EUI-64 that indicates a locally assigned ID. */
    private static final long LOCALLY_ADMINISTERED = 0x0200_0000_0000_0000L;

    private final String name;
    private final long guid;
    private final MemorySegment structure;
    private final List<ContextObject> contexts = new ArrayList<>();
    private final XrcDomains xrcDomains = new XrcDomains();

    private final List<Address> addresses;

    /** The last address, which is preferred because peers may remember it. */
    private @Nullable Address lastAddress;

    private final RandomGenerator random;
    private @Nullable Port port;
    private @Nullable ConnectionManager connections;
    private NetworkFaults faults;

    /** The fault counts of ports that were closed. */
    private NetworkFaultCounts closedPortFaultCounts = NetworkFaultCounts.NONE;

    private @Nullable PacketListener listener;
    private boolean linkUp = true;
    private long reservedBytes;

    /**
     * @param addresses the candidate addresses. The first that is free is used, and used again on
     *     later opens if it is still free
     */
    public DeviceObject(
            String name,
            List<Address> addresses,
            NetworkFaults faults,
            @Nullable PacketListener listener,
            RandomGenerator random) {
        this.name = name;
        this.addresses = List.copyOf(addresses);
        this.faults = faults;
        this.listener = listener;
        this.random = random;
        this.guid = random.nextLong() | LOCALLY_ADMINISTERED;
        this.structure = Structures.allocate(ibv_device.layout(), this);
        ibv_device.node_type(structure, rdma_h.IBV_NODE_CA());
        ibv_device.transport_type(structure, rdma_h.IBV_TRANSPORT_IB());
        ibv_device.name(structure).setString(0, name);
        ibv_device.dev_name(structure).setString(0, name);
        // The sysfs folder of a kernel device. It does not exist.
        ibv_device.ibdev_path(structure).setString(0, "/sys/class/infiniband/" + name);
    }

    static DeviceObject of(long address) {
        return Structures.object(address, DeviceObject.class);
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

    /** The XRC domains that the contexts of this device share. */
    XrcDomains xrcDomains() {
        return xrcDomains;
    }

    /**
     * Opens the device for a context.
     *
     * @param requested the address that the device must have; null for any
     */
    synchronized Port open(ContextObject context, @Nullable Address requested) {
        if (port == null) {
            port = openPort(requested);
        } else if (requested != null && !requested.equals(port.address())) {
            throw new ErrnoException(Errno.EADDRNOTAVAIL);
        }
        contexts.add(context);
        return port;
    }

    private Port openPort(@Nullable Address requested) {
        ErrnoException.throwIf(addresses.isEmpty(), Errno.EADDRNOTAVAIL);
        try {
            var candidates =
                    requested != null
                            ? Stream.of(requested)
                            : Stream.concat(Stream.ofNullable(lastAddress), addresses.stream())
                                    .distinct();
            var opened = Port.openFirst(candidates.map(PortOptions::at).toList());
            lastAddress = opened.address();
            opened.faults(withDeviceSeed(faults));
            opened.listen(listener);
            opened.linkUp(linkUp);
            connections = opened.control(engine -> startConnectionManager(opened, engine));
            LOG.info("Device {} has the address {}", name, opened.address());
            return opened;
        } catch (FabricException e) {
            throw new ErrnoException(e.code(), e.getMessage());
        }
    }

    private ConnectionManager startConnectionManager(Port opened, Engine engine) {
        var transport =
                new ManagementTransport() {
                    @Override
                    public long now() {
                        return engine.now();
                    }

                    @Override
                    public void send(Address remote, MemorySegment message) {
                        engine.sendManagement(remote, message);
                    }
                };
        var manager =
                new ConnectionManager(
                        opened.address(), guid, PathMtu.code(opened.pathMtu()), transport, random);
        engine.management(opened.address(), manager);
        return manager;
    }

    /** The address; null while no context is open. */
    public synchronized @Nullable Address address() {
        return port == null ? null : port.address();
    }

    /** The address; while no context is open, the candidate addresses. */
    public synchronized List<Address> possibleAddresses() {
        return port == null ? addresses : List.of(port.address());
    }

    /** The connection manager of an open device. To be used only within {@link Port#control}. */
    public synchronized ConnectionManager connections() {
        if (connections == null) {
            throw new ErrnoException(Errno.ENODEV);
        }
        return connections;
    }

    /** Closes the device for a context. */
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
     * Reserves device memory.
     *
     * @throws ErrnoException if the device has not enough free memory
     */
    synchronized void reserveMemory(long bytes) {
        ErrnoException.throwIf(bytes > DeviceMemoryObject.MAX_BYTES - reservedBytes, Errno.ENOMEM);
        reservedBytes += bytes;
    }

    synchronized void releaseMemory(long bytes) {
        reservedBytes -= bytes;
    }

    /** Injects network faults from now on. */
    public synchronized void faults(NetworkFaults requested) {
        faults = requested;
        if (port != null) {
            port.faults(withDeviceSeed(requested));
        }
    }

    /**
     * Returns faults with a seed that is specific to this device. Otherwise all devices would lose
     * the same packets.
     */
    private NetworkFaults withDeviceSeed(NetworkFaults requested) {
        return requested.withSeed(requested.seed() + ((long) name.hashCode() << Integer.SIZE));
    }

    /** The network faults injected so far. */
    public synchronized NetworkFaultCounts faultCounts() {
        return port == null
                ? closedPortFaultCounts
                : closedPortFaultCounts.plus(port.faultCounts());
    }

    /** Sets the listener that sees the packets of this device; null for none. */
    public synchronized void listen(@Nullable PacketListener requested) {
        listener = requested;
        if (port != null) {
            port.listen(requested);
        }
    }

    synchronized boolean isLinkUp() {
        return linkUp;
    }

    /** Sets the link state and reports it to all contexts. */
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
