package org.jrdma.verbs;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.ref.WeakReference;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.DeviceFunctions;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.VerbsContext;
import org.jrdma.verbs.internal.VerbsLibrary;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidChoice;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.GidType;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open RDMA device: what everything else is made from, and closed with.
 *
 * <p>Safe for use by several threads. In C: {@code struct ibv_context}; {@link #close()} is {@code
 * ibv_close_device}.
 */
public final class Device extends NativeObject {

    private static final Logger LOG = LoggerFactory.getLogger(Device.class);

    private static final int MEGABITS_PER_UNIT = 100;

    private final VerbsLibrary library;
    private final DeviceDescription description;
    private final Path sysfs;
    private final VerbsContext context;
    private final HotPath hotPath;
    private final EventSource events;
    private final CompletionTable<PolledWorkQueue> sharedPolled = CompletionTable.ofShared();
    private final CompletionTable<AsyncWorkQueue> sharedAsync = CompletionTable.ofShared();

    Device(
            VerbsLibrary library,
            DeviceDescription description,
            Path sysfs,
            VerbsContext context,
            boolean critical)
            throws VerbsException {
        super(context.address(), lifetime(library, description, context));
        this.library = library;
        this.description = description;
        this.sysfs = sysfs;
        this.context = context;
        this.hotPath = HotPath.of(context, critical, library.library().isProvided());
        try {
            this.events = new EventSource(context.asyncDescriptor());
        } catch (FabricException e) {
            close();
            throw new VerbsException(
                    "ibv_open_device",
                    "The events of "
                            + description.name()
                            + " cannot be waited for: "
                            + e.getMessage());
        }
        lifetime().onClose(events.waiter::close);
    }

    private static Lifetime lifetime(
            VerbsLibrary library, DeviceDescription description, VerbsContext context) {
        var name = "device " + description.name();
        return new Lifetime(
                name,
                List.of(),
                () ->
                        library.devices()
                                .close(
                                        context.address(),
                                        Attempt.to("ibv_close_device", () -> "for " + name)));
    }

    /** What the device list said of it. */
    public DeviceDescription description() {
        return description;
    }

    /** The kernel's name for it. */
    public String name() {
        return description.name();
    }

    /** What it is and has room for. In C: {@code ibv_query_device}. */
    public DeviceAttributes attributes() throws VerbsException {
        return inCall(() ->
                library.devices().queryDevice(context.address(), attempt("ibv_query_device")));
    }

    /**
     * What newer libraries tell besides. In C: {@code ibv_query_device_ex}.
     *
     * @throws VerbsException with EOPNOTSUPP where the library or the provider is too old
     */
    public ExtendedDeviceAttributes extendedAttributes() throws VerbsException {
        return inCall(() ->
                library.devices().queryDeviceExtended(context, attempt("ibv_query_device_ex")));
    }

    /**
     * The device's clock now, in the ticks of {@link CompletionCursor#timestamp}. In C: {@code
     * ibv_query_rt_values_ex}.
     *
     * @throws VerbsException with EOPNOTSUPP where it has none that can be asked
     */
    public long clock() throws VerbsException {
        return inCall(() -> library.devices().clock(context, attempt("ibv_query_rt_values_ex")));
    }

    /** What a port is and can do; ports count from 1. In C: {@code ibv_query_port}. */
    public PortAttributes port(int port) throws VerbsException {
        checkPort(port);
        return inCall(
                () -> library.devices().queryPort(context, port, attempt("ibv_query_port", port)));
    }

    /**
     * How fast a port is now, in Mbit/s: all its lanes, as its switch or the other end has agreed
     * to. In C: {@code ibv_query_port_speed}.
     *
     * @throws VerbsException with EOPNOTSUPP where the library or the device is too old to tell
     */
    public long portSpeed(int port) throws VerbsException {
        checkPort(port);
        return inCall(() ->
                MEGABITS_PER_UNIT
                        * library.devices()
                                .queryPortSpeed(
                                        context.address(),
                                        port,
                                        attempt("ibv_query_port_speed", port)));
    }

    private static void checkPort(int port) {
        if (port < 1 || port > 255) {
            throw new IllegalArgumentException("Ports count from 1: " + port);
        }
    }

    /**
     * The rows in use of a port's GID table. In C: {@code ibv_query_gid_table}; a row of it, {@code
     * ibv_query_gid_ex}, {@code ibv_query_gid}.
     */
    public List<GidEntry> gids(int port) throws VerbsException {
        var attributes = port(port);
        var length = attributes.gidTableLength();
        var isRoce =
                attributes.linkLayer() == LinkLayer.ETHERNET
                        && description.transportType() == TransportType.INFINIBAND;
        var attempt = attempt("ibv_query_gid_table", port);
        return inCall(() -> {
            var ports = library.devices().queryDevice(context.address(), attempt).ports();
            var table = library.devices().queryGidTable(context.address(), length * ports, attempt);
            var rows = table.isPresent() ? table.get() : gidsOneByOne(port, length);
            return rows.stream()
                    .filter(row -> row.port() == port)
                    .map(row -> entry(row, isRoce))
                    .toList();
        });
    }

    /** Which row of a port's GID table to send from, and why. */
    public GidChoice chooseGid(int port) throws VerbsException {
        return GidChoice.among(gids(port));
    }

    /** A port's partition keys, unused rows (0) left out. In C: {@code ibv_query_pkey}. */
    public List<Integer> partitionKeys(int port) throws VerbsException {
        return partitionTable(port).stream().filter(key -> key != 0).toList();
    }

    /**
     * The row of a port's table that a partition key stands in; empty if it is not there. In C:
     * {@code ibv_get_pkey_index}.
     */
    public OptionalInt partitionKeyIndex(int port, int key) throws VerbsException {
        var index = partitionTable(port).indexOf(key);
        return index < 0 ? OptionalInt.empty() : OptionalInt.of(index);
    }

    private List<Integer> partitionTable(int port) throws VerbsException {
        var length = port(port).partitionTableLength();
        var attempt = attempt("ibv_query_pkey", port);
        return inCall(() -> {
            var keys = new ArrayList<Integer>();
            for (var index = 0; index < length; index++) {
                keys.add(
                        library.devices()
                                .queryPartitionKey(context.address(), port, index, attempt));
            }
            return keys;
        });
    }

    /**
     * The NUMA node that the device is attached to; empty for a software device or a machine with
     * one node.
     */
    public OptionalInt numaNode() {
        try {
            var node =
                    Integer.parseInt(Files.readString(sysfs.resolve("device/numa_node")).strip());
            return node < 0 ? OptionalInt.empty() : OptionalInt.of(node);
        } catch (IOException | NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /** How many completion vectors there are, among which completion queues can be spread. */
    public int completionVectors() {
        lifetime().hold();
        try {
            return context.completionVectors();
        } finally {
            lifetime().release();
        }
    }

    /**
     * Waits for something to happen to the device or to what was made from it. Each event goes to
     * one caller, or to the listener. In C: {@code ibv_get_async_event} and {@code
     * ibv_ack_async_event}.
     *
     * @throws FabricTimeoutException if nothing happened in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the device is closed, before or meanwhile
     */
    public AsyncEvent nextEvent(Duration timeout) throws FabricException, InterruptedIOException {
        return nextEvent(Deadline.after(timeout));
    }

    private AsyncEvent nextEvent(Deadline deadline) throws FabricException, InterruptedIOException {
        var attempt = attempt("ibv_get_async_event");
        while (true) {
            var ticket = events.waiter.ticket();
            var event = takeEvent(attempt);
            if (event.isPresent()) {
                return AsyncEventRecord.commit(name(), event.get());
            }
            try {
                if (!events.waiter.await(ticket, deadline)) {
                    throw deadline.missed("No event of " + this);
                }
            } catch (IllegalStateException e) {
                throw lifetime().closedException();
            }
        }
    }

    private Optional<AsyncEvent> takeEvent(Attempt attempt) throws VerbsException {
        lifetime().hold();
        try {
            return library.devices().nextEvent(context.address(), this::translate, attempt);
        } finally {
            lifetime().release();
        }
    }

    /**
     * Calls {@code listener} for each event from now until the device is closed, one after the
     * other, on a virtual thread of its own. What it throws is logged.
     */
    public void onEvent(Consumer<AsyncEvent> listener) {
        Thread.ofVirtual()
                .name("jrdma-events-" + name())
                .start(() -> {
                    while (true) {
                        try {
                            listener.accept(nextEvent(Deadline.NEVER));
                        } catch (FabricException | InterruptedIOException e) {
                            LOG.warn(
                                    "No more events of {} for a listener: {}",
                                    this,
                                    e.getMessage());
                            return;
                        } catch (RuntimeException e) {
                            if (!isOpen()) {
                                return;
                            }
                            LOG.warn("A listener for events of {} failed", this, e);
                        }
                    }
                });
    }

    /** Makes a protection domain. In C: {@code ibv_alloc_pd}. */
    public ProtectionDomain newProtectionDomain() throws VerbsException {
        return new ProtectionDomain(this);
    }

    /**
     * The descriptor by which the kernel knows this device of this process. A duplicate in another
     * process opens the same there: {@link Verbs#importDevice}. It stays this device's own.
     */
    public int commandDescriptor() {
        lifetime().hold();
        try {
            return context.commandDescriptor();
        } finally {
            lifetime().release();
        }
    }

    /**
     * A protection domain that another process made in this device, for this device was {@linkplain
     * Verbs#importDevice imported}. Closing it here leaves it to those who have it besides; once
     * the process that made it has closed it, it is of no use to anyone. In C: {@code
     * ibv_import_pd}; {@link ProtectionDomain#close()} is {@code ibv_unimport_pd}.
     *
     * @param handle the other's {@link ProtectionDomain#handle}
     * @throws VerbsException with EOPNOTSUPP where the device cannot share it
     */
    public ProtectionDomain importProtectionDomain(int handle) throws VerbsException {
        return ProtectionDomain.imported(this, handle);
    }

    /**
     * Memory of this device that another process allocated, for this device was {@linkplain
     * Verbs#importDevice imported}. Closing it here leaves it to those who have it besides; once
     * the process that allocated it has closed it, it is of no use to anyone. In C: {@code
     * ibv_import_dm}; {@link DeviceMemory#close()} is {@code ibv_unimport_dm}.
     *
     * @param handle the other's {@link DeviceMemory#handle}
     * @param length the other's {@link DeviceMemory#length}, which nobody else tells
     * @throws VerbsException with EOPNOTSUPP where the device cannot share it
     */
    public DeviceMemory importDeviceMemory(int handle, long length) throws VerbsException {
        return DeviceMemory.imported(this, handle, length);
    }

    /**
     * Makes a thread domain. In C: {@code ibv_alloc_td}.
     *
     * @throws VerbsException with EOPNOTSUPP where the device has none
     */
    public ThreadDomain newThreadDomain() throws VerbsException {
        return new ThreadDomain(this);
    }

    /**
     * Allocates memory on the device itself. In C: {@code ibv_alloc_dm}.
     *
     * @throws VerbsException with EOPNOTSUPP where the device has none to give
     */
    public DeviceMemory newDeviceMemory(long bytes) throws VerbsException {
        return newDeviceMemory(bytes, 1);
    }

    /**
     * The same, at an address of the device's that is a multiple of {@code alignment}.
     *
     * @throws IllegalArgumentException if that is no power of two
     */
    public DeviceMemory newDeviceMemory(long bytes, long alignment) throws VerbsException {
        return new DeviceMemory(this, bytes, alignment);
    }

    /**
     * Makes an XRC domain that nobody else finds. In C: {@code ibv_open_xrcd} without a file.
     *
     * @throws VerbsException with EOPNOTSUPP where the device has none: see {@link
     *     DeviceCapability#EXTENDED_RELIABLE_CONNECTION}
     */
    public XrcDomain newXrcDomain() throws VerbsException {
        return XrcDomain.make(this);
    }

    /**
     * Makes the XRC domain of a file. What is in the file does not matter; who can read it finds
     * the domain. In C: {@code ibv_open_xrcd} with {@code O_CREAT} and {@code O_EXCL}.
     *
     * @throws VerbsException if the file cannot be read, or there is a domain of it on this device
     *     already
     */
    public XrcDomain newXrcDomain(Path file) throws VerbsException {
        return XrcDomain.open(this, file, XrcDomain.Choice.NEW);
    }

    /**
     * Opens the XRC domain of a file, or makes it where there is none. In C: {@code ibv_open_xrcd}
     * with {@code O_CREAT}.
     *
     * @throws VerbsException if the file cannot be read
     */
    public XrcDomain openXrcDomain(Path file) throws VerbsException {
        return XrcDomain.open(this, file, XrcDomain.Choice.ANY);
    }

    /**
     * Opens the XRC domain of a file that somebody has open. In C: {@code ibv_open_xrcd}.
     *
     * @throws VerbsException if the file cannot be read; with EAGAIN if there is no domain of it on
     *     this device
     */
    public XrcDomain joinXrcDomain(Path file) throws VerbsException {
        return XrcDomain.open(this, file, XrcDomain.Choice.PRESENT);
    }

    /**
     * Makes counters for the packets of flows. In C: {@code ibv_create_counters}.
     *
     * @throws VerbsException with EOPNOTSUPP where the device has none
     */
    public FlowCounters newFlowCounters() throws VerbsException {
        return new FlowCounters(this);
    }

    /**
     * Makes a completion queue that its user polls. In C: {@code ibv_create_cq}.
     *
     * @param capacity how many completions it must have room for
     */
    public CompletionQueue newCompletionQueue(int capacity) throws VerbsException {
        return newCompletionQueue(CompletionQueueOptions.capacity(capacity));
    }

    /** Makes a completion queue that its user polls. In C: {@code ibv_create_cq}. */
    public CompletionQueue newCompletionQueue(CompletionQueueOptions options)
            throws VerbsException {
        return new CompletionQueue(this, options);
    }

    /**
     * Makes a completion queue that the SDK polls, for queue pairs whose operations are awaited. In
     * C: {@code ibv_create_cq}.
     *
     * @param capacity how many completions it must have room for
     */
    public CompletionDispatcher newCompletionDispatcher(int capacity) throws VerbsException {
        return new CompletionDispatcher(this, capacity);
    }

    VerbsContext context() {
        return context;
    }

    VerbsLibrary library() {
        return library;
    }

    HotPath hotPath() {
        return hotPath;
    }

    /** Its shared receive queues that complete into queues that are polled. */
    CompletionTable<PolledWorkQueue> sharedPolled() {
        return sharedPolled;
    }

    /** Its shared receive queues that complete into dispatchers. */
    CompletionTable<AsyncWorkQueue> sharedAsync() {
        return sharedAsync;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }

    /** Lets events about {@code object} name it. */
    void announce(NativeObject object) {
        events.subjects.put(object.address().address(), new WeakReference<>(object));
    }

    /**
     * What to run before the object at an address is destroyed. It does not refer to this device.
     */
    Runnable forgetting(long address) {
        var subjects = events.subjects;
        return () -> subjects.remove(address);
    }

    /** What {@link #inCall} runs. */
    @FunctionalInterface
    interface DeviceCall<T> {
        T run() throws VerbsException;
    }

    /** Runs a call that the device must stay open for. */
    <T> T inCall(DeviceCall<T> call) throws VerbsException {
        lifetime().hold();
        try {
            return PlatformCalls.call(call::run);
        } finally {
            lifetime().release();
        }
    }

    /**
     * As the whole table would come from a newer library: without unused rows, the type read where
     * the kernel shows it.
     */
    private List<DeviceFunctions.Gid> gidsOneByOne(int port, int length) throws VerbsException {
        var rows = new ArrayList<DeviceFunctions.Gid>();
        for (var index = 0; index < length; index++) {
            var row =
                    library.devices()
                            .queryGid(
                                    context.address(), port, index, attempt("ibv_query_gid", port));
            if (row.prefix() != 0 || row.interfaceId() != 0) {
                rows.add(row);
            }
        }
        return rows;
    }

    /** The kernel has one name for the GIDs of InfiniBand, of iWARP and of RoCE v1. */
    private GidEntry entry(DeviceFunctions.Gid row, boolean isRoce) {
        var gid = new Gid(row.prefix(), row.interfaceId());
        if (row.type() >= 0) {
            return new GidEntry(
                    row.port(),
                    row.index(),
                    gid,
                    Codes.GID_TYPE.of(row.type()),
                    interfaceName(row.netDeviceIndex()));
        }
        var attributes = sysfs.resolve("ports/%s/gid_attrs".formatted(row.port()));
        return new GidEntry(
                row.port(),
                row.index(),
                gid,
                switch (read(attributes.resolve("types/" + row.index()))) {
                    case "IB/RoCE v1" -> isRoce ? GidType.ROCE_V1 : GidType.INFINIBAND;
                    case "RoCE v2" -> GidType.ROCE_V2;
                    default -> GidType.UNKNOWN;
                },
                read(attributes.resolve("ndevs/" + row.index())));
    }

    private static String interfaceName(int index) {
        try {
            var found = index == 0 ? null : NetworkInterface.getByIndex(index);
            return found == null ? "" : found.getName();
        } catch (SocketException e) {
            return "";
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }

    private AsyncEvent translate(DeviceFunctions.Event event) {
        var type = Codes.ASYNC_EVENT_TYPE.of(event.type());
        return switch (type.subject()) {
            case PORT -> new AsyncEvent(type, OptionalInt.of(event.port()), Optional.empty());
            case DEVICE -> new AsyncEvent(type, OptionalInt.empty(), Optional.of(this));
            case OBJECT -> {
                var known = events.subjects.get(event.element());
                yield new AsyncEvent(
                        type,
                        OptionalInt.empty(),
                        known == null ? Optional.empty() : Optional.ofNullable(known.get()));
            }
        };
    }

    private Attempt attempt(String function) {
        return Attempt.to(function, () -> "for " + name());
    }

    private Attempt attempt(String function, int port) {
        return Attempt.to(function, () -> "for port %d of %s".formatted(port, name()));
    }

    /** Where events come from, and the objects they can be about. */
    private static final class EventSource {
        final DescriptorWaiter waiter;
        final Map<Long, WeakReference<NativeObject>> subjects = new ConcurrentHashMap<>();

        EventSource(int descriptor) throws FabricException {
            Linux.setNonBlocking(descriptor);
            waiter = DescriptorWaiter.on(descriptor);
        }
    }
}
