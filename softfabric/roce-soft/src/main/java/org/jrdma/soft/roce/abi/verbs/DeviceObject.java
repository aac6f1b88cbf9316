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
 * Behind an {@code ibv_device}: a device in software. It takes its address when a program opens it,
 * and gives it back when the last has closed it.
 */
public final class DeviceObject {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceObject.class);

    /** The bit of an EUI-64 that says that no vendor has given it. */
    private static final long LOCALLY_ADMINISTERED = 0x0200_0000_0000_0000L;

    private final String name;
    private final long guid;
    private final MemorySegment structure;
    private final List<ContextObject> contexts = new ArrayList<>();
    private final XrcDomains xrcDomains = new XrcDomains();

    private final List<Address> addresses;

    /** Where it was last: peers may remember. */
    private @Nullable Address last;

    private final RandomGenerator random;
    private @Nullable Port port;
    private @Nullable ConnectionManager connections;
    private NetworkFaults faults;

    /** What ports did that are closed. */
    private NetworkFaultCounts formerFaultCounts = NetworkFaultCounts.NONE;

    private @Nullable PacketListener listener;
    private boolean linkUp = true;
    private long memoryTaken;

    /**
     * @param addresses where it may be; the first that is free is taken, and the same again when it
     *     is opened again, if it is still free
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
        // Where the kernel would describe it. There is no such folder, as from a library without
        // a kernel.
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

    /** The XRC domains that its contexts share. */
    XrcDomains xrcDomains() {
        return xrcDomains;
    }

    /**
     * Takes the address for one more context.
     *
     * @param wanted where it must be; null for anywhere
     */
    synchronized Port open(ContextObject context, @Nullable Address wanted) {
        if (port == null) {
            port = openPort(wanted);
        } else if (wanted != null && !wanted.equals(port.address())) {
            throw new ErrnoException(Errno.EADDRNOTAVAIL);
        }
        contexts.add(context);
        return port;
    }

    private Port openPort(@Nullable Address wanted) {
        ErrnoException.throwIf(addresses.isEmpty(), Errno.EADDRNOTAVAIL);
        try {
            var best =
                    wanted != null
                            ? Stream.of(wanted)
                            : Stream.concat(Stream.ofNullable(last), addresses.stream()).distinct();
            var opened = Port.openFirst(best.map(PortOptions::at).toList());
            last = opened.address();
            opened.faults(own(faults));
            opened.listen(listener);
            opened.linkUp(linkUp);
            connections = opened.control(engine -> answerAtQueuePair1(opened, engine));
            LOG.info("Device {} is at {}", name, opened.address());
            return opened;
        } catch (FabricException e) {
            throw new ErrnoException(e.code(), e.getMessage());
        }
    }

    private ConnectionManager answerAtQueuePair1(Port opened, Engine engine) {
        var carrier =
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
        var answering =
                new ConnectionManager(
                        opened.address(), guid, PathMtu.code(opened.pathMtu()), carrier, random);
        engine.management(opened.address(), answering);
        return answering;
    }

    /** Where it is; null while nobody has it open. */
    public synchronized @Nullable Address address() {
        return port == null ? null : port.address();
    }

    /** Where it is or, while nobody has it open, may be. */
    public synchronized List<Address> possibleAddresses() {
        return port == null ? addresses : List.of(port.address());
    }

    /** Its connection manager, for those who have it open. It is for {@link Port#control} only. */
    public synchronized ConnectionManager connections() {
        if (connections == null) {
            throw new ErrnoException(Errno.ENODEV);
        }
        return connections;
    }

    /** Gives it back for a context. */
    synchronized void close(ContextObject context) {
        contexts.remove(context);
        if (contexts.isEmpty() && port != null) {
            port.close();
            formerFaultCounts = formerFaultCounts.plus(port.faultCounts());
            port = null;
            connections = null;
        }
    }

    /**
     * Takes some of the memory that it has of its own.
     *
     * @throws ErrnoException if it has not so much left
     */
    synchronized void takeMemory(long bytes) {
        ErrnoException.throwIf(bytes > DeviceMemoryObject.MAX_BYTES - memoryTaken, Errno.ENOMEM);
        memoryTaken += bytes;
    }

    synchronized void giveMemory(long bytes) {
        memoryTaken -= bytes;
    }

    /** What goes wrong on its network from now on. */
    public synchronized void faults(NetworkFaults wanted) {
        faults = wanted;
        if (port != null) {
            port.faults(own(wanted));
        }
    }

    /** With dice of its own, or what befalls one device would befall all of them at once. */
    private NetworkFaults own(NetworkFaults wanted) {
        return wanted.withSeed(wanted.seed() + ((long) name.hashCode() << Integer.SIZE));
    }

    /** What its network has done until now. */
    public synchronized NetworkFaultCounts faultCounts() {
        return port == null ? formerFaultCounts : formerFaultCounts.plus(port.faultCounts());
    }

    /** Who sees its packets from now on. */
    public synchronized void listen(@Nullable PacketListener wanted) {
        listener = wanted;
        if (port != null) {
            port.listen(wanted);
        }
    }

    synchronized boolean isLinkUp() {
        return linkUp;
    }

    /** Plugs its cable in or pulls it. Everyone who has it open is told. */
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
