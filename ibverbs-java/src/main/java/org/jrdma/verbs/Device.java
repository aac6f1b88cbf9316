package org.jrdma.verbs;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.flow.FlowCounters;
import org.jrdma.verbs.flow.access.FlowPackageInternals;
import org.jrdma.verbs.handle.AsyncJfrEvent;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.DeviceFunctions;
import org.jrdma.verbs.internal.VerbsEnumCodes;
import org.jrdma.verbs.memory.DeviceMemory;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.AsyncEvent;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.GidRanking;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open RDMA device. It owns the protection domains, completion queues and other objects that are
 * created from it, and closes them.
 *
 * <p>Safe for use by multiple threads. In C: {@code struct ibv_context}; {@link #close()} is {@code
 * ibv_close_device}.
 */
public final class Device extends NativeObject {

    private static final Logger LOG = LoggerFactory.getLogger(Device.class);

    private static final int MEGABITS_PER_UNIT = 100;

    private final DeviceHandle handle;

    Device(DeviceHandle handle) {
        super(handle.context().address(), handle.lifetime());
        this.handle = handle;
        handle.belongsTo(this);
    }

    /** The description of this device in the device list; see {@link Verbs#devices}. */
    public DeviceDescription description() {
        return handle.description();
    }

    /** The name of the device in the kernel. */
    public String name() {
        return handle.name();
    }

    /** The attributes and limits of the device. In C: {@code ibv_query_device}. */
    public DeviceAttributes attributes() throws VerbsException {
        return handle.attributes();
    }

    /**
     * The extended attributes of the device, which newer libraries report. In C: {@code
     * ibv_query_device_ex}.
     *
     * @throws VerbsException with EOPNOTSUPP if the library or the provider is too old
     */
    public ExtendedDeviceAttributes extendedAttributes() throws VerbsException {
        return handle.call(() ->
                handle.library()
                        .devices()
                        .queryDeviceExtended(
                                handle.context(), handle.attempt("ibv_query_device_ex")));
    }

    /**
     * The current value of the device clock, in ticks. The timestamps of completions are values of
     * the same clock; see {@link CompletionCursor#timestamp}. In C: {@code ibv_query_rt_values_ex}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device has no readable clock
     */
    public long clock() throws VerbsException {
        return handle.call(() ->
                handle.library()
                        .devices()
                        .clock(handle.context(), handle.attempt("ibv_query_rt_values_ex")));
    }

    /** The attributes of a port. Port numbers start at 1. In C: {@code ibv_query_port}. */
    public PortAttributes port(int port) throws VerbsException {
        return handle.port(port);
    }

    /**
     * The current speed of a port in Mbit/s, the sum over all lanes. The port negotiates the speed
     * with the switch or the other port on the cable. In C: {@code ibv_query_port_speed}.
     *
     * @throws VerbsException with EOPNOTSUPP if the library or the device does not report the speed
     */
    public long portSpeed(int port) throws VerbsException {
        FieldRangeChecks.check("port number", port, 1, 255);
        return handle.call(() ->
                MEGABITS_PER_UNIT
                        * handle.library()
                                .devices()
                                .queryPortSpeed(
                                        handle.context().address(),
                                        port,
                                        handle.attempt("ibv_query_port_speed", port)));
    }

    /**
     * The used entries of a port's GID table. In C: {@code ibv_query_gid_table}; for one entry,
     * {@code ibv_query_gid_ex} and {@code ibv_query_gid}.
     */
    public List<GidEntry> gids(int port) throws VerbsException {
        return handle.gids(port);
    }

    /**
     * Ranks the entries of a port's GID table. The best entry is the default source address of
     * queue pairs on Ethernet.
     */
    public GidRanking chooseGid(int port) throws VerbsException {
        return handle.chooseGid(port);
    }

    /**
     * The IP address at which peers reach this device: the address of the best RoCE v2 GID of the
     * first port that has one; see {@link #chooseGid}. Empty on InfiniBand and iWARP, whose GIDs
     * are not the IP addresses of the device, and for a device that has only link-local addresses.
     */
    public Optional<InetAddress> ipAddress() throws VerbsException {
        var ports = attributes().ports();
        for (var port = 1; port <= ports; port++) {
            for (var ranked : chooseGid(port).ranking()) {
                var address = ranked.entry().ipAddress();
                if (address.isPresent()) {
                    return address;
                }
            }
        }
        return Optional.empty();
    }

    /**
     * The partition keys (P_Keys) of a port. Unused table entries, whose value is 0, are left out.
     * In C: {@code ibv_query_pkey}.
     */
    public List<Integer> partitionKeys(int port) throws VerbsException {
        return partitionTable(port).stream().filter(key -> key != 0).toList();
    }

    /**
     * The index of a partition key in the partition table of a port; empty if the table does not
     * contain the key. In C: {@code ibv_get_pkey_index}.
     */
    public OptionalInt partitionKeyIndex(int port, int key) throws VerbsException {
        var index = partitionTable(port).indexOf(key);
        return index < 0 ? OptionalInt.empty() : OptionalInt.of(index);
    }

    private List<Integer> partitionTable(int port) throws VerbsException {
        var length = port(port).partitionTableLength();
        var attempt = handle.attempt("ibv_query_pkey", port);
        return handle.call(() -> {
            var keys = new ArrayList<Integer>();
            for (var index = 0; index < length; index++) {
                keys.add(
                        handle.library()
                                .devices()
                                .queryPartitionKey(
                                        handle.context().address(), port, index, attempt));
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
                    Integer.parseInt(
                            Files.readString(handle.sysfs().resolve("device/numa_node")).strip());
            return node < 0 ? OptionalInt.empty() : OptionalInt.of(node);
        } catch (IOException | NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /**
     * The number of completion vectors of the device. {@link CompletionQueueOptions#vector} assigns
     * a completion queue to a vector.
     */
    public int completionVectors() {
        try (var _ = lifetime().held()) {
            return handle.context().completionVectors();
        }
    }

    /**
     * Waits for an asynchronous event of the device or of an object created from it. Each event is
     * delivered to only one caller or listener. In C: {@code ibv_get_async_event} and {@code
     * ibv_ack_async_event}.
     *
     * @throws FabricTimeoutException if no event occurs before the timeout
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the device is closed before or during the wait
     */
    public AsyncEvent nextEvent(Duration timeout) throws FabricException, InterruptedIOException {
        return nextEvent(Deadline.after(timeout));
    }

    private AsyncEvent nextEvent(Deadline deadline) throws FabricException, InterruptedIOException {
        var attempt = handle.attempt("ibv_get_async_event");
        while (true) {
            var ticket = handle.events().ticket();
            var event = takeEvent(attempt);
            if (event.isPresent()) {
                var next = event.get();
                AsyncJfrEvent.commit(name(), next.type(), next.port(), next.subject());
                return next;
            }
            try {
                if (!handle.events().await(ticket, deadline)) {
                    throw deadline.missed("No event of " + this);
                }
            } catch (IllegalStateException e) {
                throw lifetime().closedException();
            }
        }
    }

    private Optional<AsyncEvent> takeEvent(CheckedCall attempt) throws VerbsException {
        try (var _ = lifetime().held()) {
            return handle.library()
                    .devices()
                    .nextEvent(handle.context().address(), this::translate, attempt);
        }
    }

    /**
     * Calls {@code listener} for each asynchronous event until the device is closed. The calls are
     * sequential and run on a dedicated virtual thread. Anything that the listener throws is
     * logged, and the listener is called for the next event.
     */
    public void onEvent(Consumer<AsyncEvent> listener) {
        Thread.ofVirtual()
                .name("jrdma-events-" + name())
                .start(() -> {
                    while (true) {
                        try {
                            notify(listener, nextEvent(Deadline.NEVER));
                        } catch (FabricException | InterruptedIOException e) {
                            LOG.warn(
                                    "Cannot read events of {}; its listener has stopped: {}",
                                    this,
                                    e.getMessage());
                            return;
                        } catch (RuntimeException | Error e) {
                            if (!isOpen()) {
                                return;
                            }
                            FailureLog.errorAndPause(
                                    LOG, "Reading an event failed and is repeated", e);
                        }
                    }
                });
    }

    private void notify(Consumer<AsyncEvent> listener, AsyncEvent event) {
        try {
            listener.accept(event);
        } catch (RuntimeException | Error e) {
            if (isOpen()) {
                FailureLog.error(LOG, "A listener for events of " + this + " failed", e);
            }
        }
    }

    /** Creates a protection domain. In C: {@code ibv_alloc_pd}. */
    public ProtectionDomain newProtectionDomain() throws VerbsException {
        return new ProtectionDomain(this, DomainHandle.allocate(handle));
    }

    /**
     * The file descriptor of this open device. Another process can open the same device with a
     * duplicate of the descriptor; see {@link Verbs#importDevice}. This device keeps ownership of
     * the descriptor.
     */
    public int commandDescriptor() {
        try (var _ = lifetime().held()) {
            return handle.context().commandDescriptor();
        }
    }

    /**
     * Imports a protection domain of another process. This device must have been {@linkplain
     * Verbs#importDevice imported} from that process. Closing the imported domain does not affect
     * other processes. After the process that created the domain has closed it, no process can use
     * it. In C: {@code ibv_import_pd}; {@link ProtectionDomain#close()} is {@code ibv_unimport_pd}.
     *
     * @param handle the {@link ProtectionDomain#handle} in the other process
     * @throws VerbsException with EOPNOTSUPP if the device cannot share its objects between
     *     processes
     */
    public ProtectionDomain importProtectionDomain(int handle) throws VerbsException {
        return new ProtectionDomain(this, DomainHandle.importFrom(this.handle, handle));
    }

    /**
     * Imports device memory of another process. This device must have been {@linkplain
     * Verbs#importDevice imported} from that process. Closing the imported memory does not affect
     * other processes. After the process that allocated the memory has closed it, no process can
     * use it. In C: {@code ibv_import_dm}; {@link DeviceMemory#close()} is {@code ibv_unimport_dm}.
     *
     * @param handle the {@link DeviceMemory#handle} in the other process
     * @param length the {@link DeviceMemory#length} in the other process, which the device does not
     *     report
     * @throws VerbsException with EOPNOTSUPP if the device cannot share its objects between
     *     processes
     */
    public DeviceMemory importDeviceMemory(int handle, long length) throws VerbsException {
        return MemoryPackageInternals.get().importDeviceMemory(this.handle, handle, length);
    }

    /**
     * Creates a thread domain. In C: {@code ibv_alloc_td}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device does not support thread domains
     */
    public ThreadDomain newThreadDomain() throws VerbsException {
        return new ThreadDomain(handle);
    }

    /**
     * Creates an XRC domain that is not associated with a file, so that other processes cannot open
     * it. In C: {@code ibv_open_xrcd} without a file.
     *
     * @throws VerbsException with EOPNOTSUPP if the device does not support XRC; see {@link
     *     org.jrdma.verbs.model.DeviceCapability#EXTENDED_RELIABLE_CONNECTION}
     */
    public XrcDomain newXrcDomain() throws VerbsException {
        return XrcDomain.create(handle);
    }

    /**
     * Creates an XRC domain that is associated with a file. The file only identifies the domain;
     * its content is ignored. Every process that can read the file can open the domain. In C:
     * {@code ibv_open_xrcd} with {@code O_CREAT} and {@code O_EXCL}.
     *
     * @throws VerbsException if the file cannot be read, or the file already has a domain on this
     *     device
     */
    public XrcDomain newXrcDomain(Path file) throws VerbsException {
        return XrcDomain.create(handle, file);
    }

    /**
     * Opens the XRC domain that is associated with a file, or creates it if there is none on this
     * device. In C: {@code ibv_open_xrcd} with {@code O_CREAT}.
     *
     * @throws VerbsException if the file cannot be read
     */
    public XrcDomain openXrcDomain(Path file) throws VerbsException {
        return XrcDomain.open(handle, file);
    }

    /**
     * Opens the XRC domain that is associated with a file if it already exists. In C: {@code
     * ibv_open_xrcd}.
     *
     * @throws VerbsException if the file cannot be read; with EAGAIN if the file has no domain on
     *     this device
     */
    public XrcDomain joinXrcDomain(Path file) throws VerbsException {
        return XrcDomain.join(handle, file);
    }

    /**
     * Allocates memory on the device itself. In C: {@code ibv_alloc_dm}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device has no memory that programs can allocate
     */
    public DeviceMemory newDeviceMemory(long bytes) throws VerbsException {
        return newDeviceMemory(bytes, 1);
    }

    /**
     * Allocates memory on the device at a device address that is a multiple of {@code alignment}.
     *
     * @throws IllegalArgumentException if {@code alignment} is not a power of two
     */
    public DeviceMemory newDeviceMemory(long bytes, long alignment) throws VerbsException {
        return MemoryPackageInternals.get().deviceMemory(handle, bytes, alignment);
    }

    /**
     * Creates counters for the packets of flows. In C: {@code ibv_create_counters}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device has no counters
     */
    public FlowCounters newFlowCounters() throws VerbsException {
        return FlowPackageInternals.get().counters(handle);
    }

    /**
     * Creates a completion queue that the program polls. In C: {@code ibv_create_cq}.
     *
     * @param capacity the number of completions that the queue must be able to hold
     */
    public CompletionQueue newCompletionQueue(int capacity) throws VerbsException {
        return newCompletionQueue(CompletionQueueOptions.capacity(capacity));
    }

    /** Creates a completion queue that the program polls. In C: {@code ibv_create_cq}. */
    public CompletionQueue newCompletionQueue(CompletionQueueOptions options)
            throws VerbsException {
        return new CompletionQueue(handle, options.config());
    }

    /**
     * Creates a completion queue that the SDK polls, for asynchronous queue pairs. In C: {@code
     * ibv_create_cq}.
     *
     * @param capacity the number of completions that the queue must be able to hold
     */
    public CompletionDispatcher newCompletionDispatcher(int capacity) throws VerbsException {
        return new CompletionDispatcher(
                handle, CompletionQueueOptions.capacity(capacity).waitable().config());
    }

    DeviceHandle handle() {
        return handle;
    }

    private AsyncEvent translate(DeviceFunctions.Event event) {
        var type = VerbsEnumCodes.ASYNC_EVENT_TYPE.of(event.type());
        return switch (type.subject()) {
            case PORT -> new AsyncEvent(type, OptionalInt.of(event.port()), Optional.empty());
            case DEVICE -> new AsyncEvent(type, OptionalInt.empty(), Optional.of(this));
            case OBJECT -> {
                var subject = handle.events().subject(event.element());
                yield new AsyncEvent(type, OptionalInt.empty(), subject);
            }
        };
    }
}
