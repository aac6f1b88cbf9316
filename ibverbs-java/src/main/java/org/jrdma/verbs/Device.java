package org.jrdma.verbs;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
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
import org.jrdma.verbs.flow.FlowCounters;
import org.jrdma.verbs.flow.access.FlowAccess;
import org.jrdma.verbs.handle.AsyncEventRecord;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.DeviceFunctions;
import org.jrdma.verbs.memory.DeviceMemory;
import org.jrdma.verbs.memory.access.MemoryAccess;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.GidChoice;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.PortAttributes;
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

    private final DeviceHandle handle;

    Device(DeviceHandle handle) {
        super(handle.context().address(), handle.lifetime());
        this.handle = handle;
        handle.belongsTo(this);
    }

    /** What the device list said of it. */
    public DeviceDescription description() {
        return handle.description();
    }

    /** The kernel's name for it. */
    public String name() {
        return handle.name();
    }

    /** What it is and has room for. In C: {@code ibv_query_device}. */
    public DeviceAttributes attributes() throws VerbsException {
        return handle.attributes();
    }

    /**
     * What newer libraries tell besides. In C: {@code ibv_query_device_ex}.
     *
     * @throws VerbsException with EOPNOTSUPP where the library or the provider is too old
     */
    public ExtendedDeviceAttributes extendedAttributes() throws VerbsException {
        return handle.call(() ->
                handle.library()
                        .devices()
                        .queryDeviceExtended(
                                handle.context(), handle.attempt("ibv_query_device_ex")));
    }

    /**
     * The device's clock now, in the ticks of {@link CompletionCursor#timestamp}. In C: {@code
     * ibv_query_rt_values_ex}.
     *
     * @throws VerbsException with EOPNOTSUPP where it has none that can be asked
     */
    public long clock() throws VerbsException {
        return handle.call(() ->
                handle.library()
                        .devices()
                        .clock(handle.context(), handle.attempt("ibv_query_rt_values_ex")));
    }

    /** What a port is and can do; ports count from 1. In C: {@code ibv_query_port}. */
    public PortAttributes port(int port) throws VerbsException {
        return handle.port(port);
    }

    /**
     * How fast a port is now, in Mbit/s: all its lanes, as its switch or the other end has agreed
     * to. In C: {@code ibv_query_port_speed}.
     *
     * @throws VerbsException with EOPNOTSUPP where the library or the device is too old to tell
     */
    public long portSpeed(int port) throws VerbsException {
        if (port < 1 || port > 255) {
            throw new IllegalArgumentException("Ports count from 1: " + port);
        }
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
     * The rows in use of a port's GID table. In C: {@code ibv_query_gid_table}; a row of it, {@code
     * ibv_query_gid_ex}, {@code ibv_query_gid}.
     */
    public List<GidEntry> gids(int port) throws VerbsException {
        return handle.gids(port);
    }

    /** Which row of a port's GID table to send from, and why. */
    public GidChoice chooseGid(int port) throws VerbsException {
        return handle.chooseGid(port);
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

    /** How many completion vectors there are, among which completion queues can be spread. */
    public int completionVectors() {
        lifetime().hold();
        try {
            return handle.context().completionVectors();
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
        var attempt = handle.attempt("ibv_get_async_event");
        while (true) {
            var ticket = handle.events().ticket();
            var event = takeEvent(attempt);
            if (event.isPresent()) {
                var known = event.get();
                AsyncEventRecord.commit(name(), known.type(), known.port(), known.subject());
                return known;
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

    private Optional<AsyncEvent> takeEvent(Attempt attempt) throws VerbsException {
        lifetime().hold();
        try {
            return handle.library()
                    .devices()
                    .nextEvent(handle.context().address(), this::translate, attempt);
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
        return new ProtectionDomain(this, DomainHandle.allocate(handle));
    }

    /**
     * The descriptor by which the kernel knows this device of this process. A duplicate in another
     * process opens the same there: {@link Verbs#importDevice}. It stays this device's own.
     */
    public int commandDescriptor() {
        lifetime().hold();
        try {
            return handle.context().commandDescriptor();
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
        return new ProtectionDomain(this, DomainHandle.importFrom(this.handle, handle));
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
        return MemoryAccess.get().importDeviceMemory(this.handle, handle, length);
    }

    /**
     * Makes a thread domain. In C: {@code ibv_alloc_td}.
     *
     * @throws VerbsException with EOPNOTSUPP where the device has none
     */
    public ThreadDomain newThreadDomain() throws VerbsException {
        return new ThreadDomain(handle);
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
        return MemoryAccess.get().deviceMemory(handle, bytes, alignment);
    }

    /**
     * Makes counters for the packets of flows. In C: {@code ibv_create_counters}.
     *
     * @throws VerbsException with EOPNOTSUPP where the device has none
     */
    public FlowCounters newFlowCounters() throws VerbsException {
        return FlowAccess.get().counters(handle);
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
        return new CompletionQueue(handle, options.wanted());
    }

    /**
     * Makes a completion queue that the SDK polls, for queue pairs whose operations are awaited. In
     * C: {@code ibv_create_cq}.
     *
     * @param capacity how many completions it must have room for
     */
    public CompletionDispatcher newCompletionDispatcher(int capacity) throws VerbsException {
        return new CompletionDispatcher(handle, capacity);
    }

    DeviceHandle handle() {
        return handle;
    }

    private AsyncEvent translate(DeviceFunctions.Event event) {
        var type = Codes.ASYNC_EVENT_TYPE.of(event.type());
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
