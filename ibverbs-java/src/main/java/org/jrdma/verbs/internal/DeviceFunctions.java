package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;
import static org.jrdma.ffi.linkage.Downcalls.run;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jrdma.abi.rdma.ibv_async_event;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_device;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.ibv_device_attr_ex;
import org.jrdma.abi.rdma.ibv_gid;
import org.jrdma.abi.rdma.ibv_gid_entry;
import org.jrdma.abi.rdma.ibv_port_attr;
import org.jrdma.abi.rdma.ibv_values_ex;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.timespec;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.VerbsException;

/** Calls the C functions of devices: listing, opening, queries and asynchronous events. */
public final class DeviceFunctions {

    private static final MethodHandle GET_DEVICE_LIST =
            capturingErrno(rdma_h.ibv_get_device_list$descriptor());
    private static final MethodHandle FREE_DEVICE_LIST =
            capturingErrno(rdma_h.ibv_free_device_list$descriptor());
    private static final MethodHandle GET_DEVICE_GUID =
            capturingErrno(rdma_h.ibv_get_device_guid$descriptor());
    private static final MethodHandle OPEN_DEVICE =
            capturingErrno(rdma_h.ibv_open_device$descriptor());
    private static final MethodHandle GET_DEVICE_INDEX =
            capturingErrno(rdma_h.ibv_get_device_index$descriptor());
    private static final MethodHandle IMPORT_DEVICE =
            capturingErrno(rdma_h.ibv_import_device$descriptor());
    private static final MethodHandle CLOSE_DEVICE =
            capturingErrno(rdma_h.ibv_close_device$descriptor());
    private static final MethodHandle QUERY_DEVICE =
            capturingErrno(rdma_h.ibv_query_device$descriptor());
    private static final MethodHandle QUERY_DEVICE_EX =
            capturingErrno(verbs_context.query_device_ex.descriptor());
    private static final MethodHandle QUERY_RT_VALUES =
            capturingErrno(verbs_context.query_rt_values.descriptor());
    private static final MethodHandle QUERY_PORT =
            capturingErrno(rdma_h.ibv_query_port$descriptor());
    private static final MethodHandle QUERY_PORT_SIZED =
            capturingErrno(verbs_context.query_port.descriptor());
    private static final MethodHandle QUERY_PORT_SPEED =
            capturingErrno(rdma_h.ibv_query_port_speed$descriptor());
    private static final MethodHandle QUERY_GID = capturingErrno(rdma_h.ibv_query_gid$descriptor());
    private static final MethodHandle QUERY_GID_TABLE =
            capturingErrno(rdma_h._ibv_query_gid_table$descriptor());
    private static final MethodHandle QUERY_PKEY =
            capturingErrno(rdma_h.ibv_query_pkey$descriptor());
    private static final MethodHandle GET_ASYNC_EVENT =
            capturingErrno(rdma_h.ibv_get_async_event$descriptor());
    private static final MethodHandle ACK_ASYNC_EVENT =
            capturingErrno(rdma_h.ibv_ack_async_event$descriptor());
    private static final MethodHandle IS_FORK_INITIALIZED =
            capturingErrno(rdma_h.ibv_is_fork_initialized$descriptor());

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final MemorySegment getDeviceList;
    private final MemorySegment freeDeviceList;
    private final MemorySegment getDeviceGuid;
    private final Optional<MemorySegment> getDeviceIndex;
    private final MemorySegment openDevice;
    private final Optional<MemorySegment> importDevice;
    private final MemorySegment closeDevice;
    private final MemorySegment queryDevice;
    private final MemorySegment queryPort;
    private final Optional<MemorySegment> queryPortSpeed;
    private final MemorySegment queryGid;
    private final Optional<MemorySegment> queryGidTable;
    private final MemorySegment queryPkey;
    private final MemorySegment getAsyncEvent;
    private final MemorySegment ackAsyncEvent;
    private final Optional<MemorySegment> isForkInitialized;

    /** Looks up the functions. A library may lack functions that later releases introduced. */
    public DeviceFunctions(NativeLibrary library) throws LibraryNotFoundException {
        getDeviceList = library.require("ibv_get_device_list");
        freeDeviceList = library.require("ibv_free_device_list");
        getDeviceGuid = library.require("ibv_get_device_guid");
        getDeviceIndex = library.find("ibv_get_device_index");
        openDevice = library.require("ibv_open_device");
        importDevice = library.find("ibv_import_device");
        closeDevice = library.require("ibv_close_device");
        queryDevice = library.require("ibv_query_device");
        queryPort = library.require("ibv_query_port");
        queryPortSpeed = library.find("ibv_query_port_speed");
        queryGid = library.require("ibv_query_gid");
        queryGidTable = library.find("_ibv_query_gid_table");
        queryPkey = library.require("ibv_query_pkey");
        getAsyncEvent = library.require("ibv_get_async_event");
        ackAsyncEvent = library.require("ibv_ack_async_event");
        isForkInitialized = library.find("ibv_is_fork_initialized");
    }

    /** The description of a device in a device list. The index is -1 if it is unknown. */
    public record Listed(
            String name,
            String verbsName,
            int index,
            String sysfsPath,
            long guid,
            int nodeType,
            int transportType) {}

    @FunctionalInterface
    public interface DeviceVisitor<T> {
        /**
         * Visits one device of the list. The pointer to the device is valid only during this call.
         * If the result is empty, the next device is visited.
         */
        Optional<T> visit(Listed listed, MemorySegment device) throws VerbsException;
    }

    /**
     * Visits the devices of this machine until the visitor returns a result. The C function returns
     * NULL and sets errno on failure. ENOSYS means that the kernel does not support RDMA; then
     * there are no devices.
     */
    public <T> Optional<T> visit(DeviceVisitor<T> visitor) throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var count = arena.allocate(ValueLayout.JAVA_INT);
            var list =
                    call(() ->
                            (MemorySegment)
                                    GET_DEVICE_LIST.invokeExact(getDeviceList, segment(), count));
            if (list.address() == 0) {
                if (CapturedErrno.value() == Errno.ENOSYS) {
                    return Optional.empty();
                }
                throw CheckedCall.to("ibv_get_device_list", () -> "on this machine")
                        .failed(CapturedErrno.value());
            }
            try {
                var devices =
                        memoryAt(
                                list,
                                count.get(ValueLayout.JAVA_INT, 0)
                                        * ValueLayout.ADDRESS.byteSize());
                for (var pointer : devices.elements(ValueLayout.ADDRESS).toList()) {
                    var device =
                            memoryAt(
                                    pointer.get(ValueLayout.ADDRESS, 0),
                                    ibv_device.layout().byteSize());
                    var result = visitor.visit(listed(device), device);
                    if (result.isPresent()) {
                        return result;
                    }
                }
                return Optional.empty();
            } finally {
                run(() -> {
                    FREE_DEVICE_LIST.invokeExact(freeDeviceList, segment(), list);
                });
            }
        }
    }

    private Listed listed(MemorySegment device) {
        long guid =
                call(() -> (long) GET_DEVICE_GUID.invokeExact(getDeviceGuid, segment(), device));
        int index =
                getDeviceIndex.isEmpty()
                        ? -1
                        : call(() ->
                                (int)
                                        GET_DEVICE_INDEX.invokeExact(
                                                getDeviceIndex.get(), segment(), device));
        return new Listed(
                ibv_device.name(device).getString(0),
                ibv_device.dev_name(device).getString(0),
                index,
                ibv_device.ibdev_path(device).getString(0),
                BigEndian.toNative(guid),
                ibv_device.node_type(device),
                ibv_device.transport_type(device));
    }

    /** Opens a device of the device list. The C function returns NULL and sets errno on failure. */
    public MemorySegment open(MemorySegment device, CheckedCall attempt) throws VerbsException {
        return attempt.structure(
                ibv_context.layout(),
                () -> (MemorySegment) OPEN_DEVICE.invokeExact(openDevice, segment(), device));
    }

    /**
     * Opens a device that another process has open. The device is imported through a duplicate of
     * the other process's file descriptor. Closing the device closes the duplicate. If the import
     * fails, the duplicate is left open: the library may already have closed it, and the kernel may
     * have reused its number. The C function returns NULL and sets errno on failure.
     */
    public MemorySegment importDevice(int descriptor, CheckedCall attempt) throws VerbsException {
        var function = attempt.require(importDevice);
        int own;
        try {
            own = LinuxCalls.duplicate(descriptor);
        } catch (FabricException e) {
            throw attempt.failed(e.code());
        }
        return attempt.structure(
                ibv_context.layout(),
                () -> (MemorySegment) IMPORT_DEVICE.invokeExact(function, segment(), own));
    }

    /** Returns the description that an open device has in the device list. */
    public Listed describe(MemorySegment context) {
        return listed(memoryAt(ibv_context.device(context), ibv_device.layout().byteSize()));
    }

    /** Closes a device. The C function returns -1 and sets errno on failure. */
    public void close(MemorySegment context, CheckedCall attempt) throws VerbsException {
        attempt.minusOne(() -> (int) CLOSE_DEVICE.invokeExact(closeDevice, segment(), context));
    }

    /** Queries the attributes of a device. The C function returns 0 or an errno. */
    public DeviceAttributes queryDevice(MemorySegment context, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_device_attr.allocate(arena);
            attempt.errno(() ->
                    (int) QUERY_DEVICE.invokeExact(queryDevice, segment(), context, attributes));
            return AttributeReader.device(attributes);
        }
    }

    /**
     * Queries the extended attributes of a device. Attributes that the library does not report are
     * zero. The C function returns 0 or an errno.
     */
    public ExtendedDeviceAttributes queryDeviceExtended(VerbsContext context, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.query_device_ex$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_device_attr_ex.allocate(arena);
            attempt.errno(() ->
                    (int)
                            QUERY_DEVICE_EX.invokeExact(
                                    function,
                                    segment(),
                                    context.address(),
                                    MemorySegment.NULL,
                                    attributes,
                                    attributes.byteSize()));
            return AttributeReader.extended(attributes);
        }
    }

    /**
     * Reads the device's clock. Returns {@code raw_clock} as seconds times 10^9 plus nanoseconds.
     * The C function returns 0 or an errno.
     */
    public long clock(VerbsContext context, CheckedCall attempt) throws VerbsException {
        var function = context.require(verbs_context.query_rt_values$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var values = ibv_values_ex.allocate(arena);
            ibv_values_ex.comp_mask(values, rdma_h.IBV_VALUES_MASK_RAW_CLOCK());
            attempt.errno(() ->
                    (int)
                            QUERY_RT_VALUES.invokeExact(
                                    function, segment(), context.address(), values));
            if ((ibv_values_ex.comp_mask(values) & rdma_h.IBV_VALUES_MASK_RAW_CLOCK()) == 0) {
                throw attempt.failed(Errno.EOPNOTSUPP);
            }
            var clock = ibv_values_ex.raw_clock(values);
            return timespec.tv_sec(clock) * NANOS_PER_SECOND + timespec.tv_nsec(clock);
        }
    }

    /**
     * Queries a port by the function in the context, if the context has it. The exported {@code
     * ibv_query_port} is only the fallback, because it fills a shorter structure, for old programs.
     * The C function returns 0 or an errno.
     */
    public PortAttributes queryPort(VerbsContext context, int port, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_port_attr.allocate(arena);
            var sized = context.find(verbs_context.query_port$offset());
            if (sized.isPresent()) {
                attempt.errno(() ->
                        (int)
                                QUERY_PORT_SIZED.invokeExact(
                                        sized.get(),
                                        segment(),
                                        context.address(),
                                        (byte) port,
                                        attributes,
                                        attributes.byteSize()));
            } else {
                attempt.errno(() ->
                        (int)
                                QUERY_PORT.invokeExact(
                                        queryPort,
                                        segment(),
                                        context.address(),
                                        (byte) port,
                                        attributes));
            }
            return AttributeReader.port(port, attributes);
        }
    }

    /** Queries the speed of a port in units of 100 Mbit/s. The C function returns 0 or an errno. */
    public long queryPortSpeed(MemorySegment context, int port, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(queryPortSpeed);
        try (var arena = Arena.ofConfined()) {
            var speed = arena.allocate(ValueLayout.JAVA_LONG);
            attempt.errno(() ->
                    (int) QUERY_PORT_SPEED.invokeExact(function, segment(), context, port, speed));
            return speed.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** An entry of the GID table. The type is -1 if the library is too old to report the type. */
    public record Gid(
            int port, int index, long prefix, long interfaceId, int type, int netDeviceIndex) {}

    /**
     * Queries the used entries of the GID tables of all ports. Returns an empty Optional if the
     * library lacks the function. The C function returns a negative errno on failure.
     */
    public Optional<List<Gid>> queryGidTable(
            MemorySegment context, int capacity, CheckedCall attempt) throws VerbsException {
        if (queryGidTable.isEmpty()) {
            return Optional.empty();
        }
        try (var arena = Arena.ofConfined()) {
            var entries = ibv_gid_entry.allocateArray(capacity, arena);
            var count =
                    attempt.negativeErrno(() ->
                            (long)
                                    QUERY_GID_TABLE.invokeExact(
                                            queryGidTable.get(),
                                            segment(),
                                            context,
                                            entries,
                                            (long) capacity,
                                            0,
                                            ibv_gid_entry.layout().byteSize()));
            var rows = new ArrayList<Gid>(count);
            for (var i = 0; i < count; i++) {
                var entry = ibv_gid_entry.asSlice(entries, i);
                var gid = ibv_gid_entry.gid(entry);
                rows.add(
                        new Gid(
                                ibv_gid_entry.port_num(entry),
                                ibv_gid_entry.gid_index(entry),
                                BigEndian.getLong(gid, 0),
                                BigEndian.getLong(gid, 8),
                                ibv_gid_entry.gid_type(entry),
                                ibv_gid_entry.ndev_ifindex(entry)));
            }
            return Optional.of(rows);
        }
    }

    /**
     * Queries one entry of the GID table. Used with libraries that cannot query the whole table.
     * The GID of an unused entry is zero. The C function returns -1 and sets errno on failure.
     */
    public Gid queryGid(MemorySegment context, int port, int index, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var gid = ibv_gid.allocate(arena);
            attempt.minusOne(() ->
                    (int)
                            QUERY_GID.invokeExact(
                                    queryGid, segment(), context, (byte) port, index, gid));
            return new Gid(
                    port, index, BigEndian.getLong(gid, 0), BigEndian.getLong(gid, 8), -1, 0);
        }
    }

    /** Queries a partition key of a port. The C function returns -1 and sets errno on failure. */
    public int queryPartitionKey(MemorySegment context, int port, int index, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var key = arena.allocate(ValueLayout.JAVA_SHORT);
            attempt.minusOne(() ->
                    (int)
                            QUERY_PKEY.invokeExact(
                                    queryPkey, segment(), context, (byte) port, index, key));
            return BigEndian.getShort(key, 0);
        }
    }

    /**
     * An asynchronous event.
     *
     * @param type the type as an {@code ibv_event_type}
     * @param element the address of the object, or the number of the port, that the event concerns
     */
    public record Event(int type, long element) {
        /** Returns the port number. Valid only for an event that concerns a port. */
        public int port() {
            return (int) element;
        }
    }

    /**
     * Takes the next asynchronous event of a device whose event descriptor is non-blocking. Returns
     * an empty Optional if there is no event. The C function returns -1 and sets errno on failure.
     *
     * @param translate translates the event. Called before the event is acknowledged, because the
     *     object of the event can be destroyed after the acknowledgement
     */
    public <T> Optional<T> nextEvent(
            MemorySegment context, Function<Event, T> translate, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var event = ibv_async_event.allocate(arena);
            int result =
                    call(() ->
                            (int)
                                    GET_ASYNC_EVENT.invokeExact(
                                            getAsyncEvent, segment(), context, event));
            if (result < 0) {
                if (CapturedErrno.value() == Errno.EAGAIN) {
                    return Optional.empty();
                }
                throw attempt.failed(CapturedErrno.value());
            }
            var translated =
                    translate.apply(
                            new Event(
                                    ibv_async_event.event_type(event),
                                    event.get(ValueLayout.JAVA_LONG, 0)));
            // The event is acknowledged after the translation: until then, the object that it
            // concerns cannot be destroyed.
            run(() -> {
                ACK_ASYNC_EVENT.invokeExact(ackAsyncEvent, segment(), event);
            });
            return Optional.of(translated);
        }
    }

    /**
     * Returns the {@code ibv_fork_status} as a number. Returns an empty Optional if the library is
     * too old to report the status.
     */
    public Optional<Integer> forkStatus() {
        return isForkInitialized.map(
                function -> call(() -> (int) IS_FORK_INITIALIZED.invokeExact(function, segment())));
    }
}
