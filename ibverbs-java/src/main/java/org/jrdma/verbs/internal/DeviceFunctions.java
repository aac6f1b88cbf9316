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
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.VerbsException;

/** Devices: found, opened, asked what they are, and heard when something happens to them. */
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

    /** Finds the functions. Those that came with later versions of the library may be missing. */
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

    /** What a device list says of a device. The index is -1 where nobody tells it. */
    public record Listed(
            String name,
            String verbsName,
            int index,
            String sysfsPath,
            long guid,
            int nodeType,
            int transportType) {}

    /** What {@link #visit} is for. */
    @FunctionalInterface
    public interface DeviceVisitor<T> {
        /** Sees a device while the list is held; an empty answer asks for the next. */
        Optional<T> visit(Listed listed, MemorySegment device) throws VerbsException;
    }

    /**
     * Shows each device of this machine until the visitor has what it wants. NULL and errno on
     * failure; ENOSYS where the kernel has no RDMA at all.
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
                throw Attempt.to("ibv_get_device_list", () -> "on this machine")
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

    /** Opens a device of a list. NULL and errno on failure. */
    public MemorySegment open(MemorySegment device, Attempt attempt) throws VerbsException {
        var context =
                attempt.pointer(
                        call(() ->
                                (MemorySegment)
                                        OPEN_DEVICE.invokeExact(openDevice, segment(), device)));
        return memoryAt(context, ibv_context.layout().byteSize());
    }

    /**
     * Opens what another process has open, by a descriptor of its own, which the close closes. Of
     * one that fails it may be closed or not, since that depends on how far the library came: it is
     * left open then, rather than closing what may be another's by now. NULL and errno on failure.
     */
    public MemorySegment importDevice(int descriptor, Attempt attempt) throws VerbsException {
        var function = importDevice.orElseThrow(() -> attempt.failed(Errno.EOPNOTSUPP));
        int own;
        try {
            own = Linux.duplicate(descriptor);
        } catch (FabricException e) {
            throw attempt.failed(e.code());
        }
        var context =
                attempt.pointer(
                        call(() ->
                                (MemorySegment)
                                        IMPORT_DEVICE.invokeExact(function, segment(), own)));
        return memoryAt(context, ibv_context.layout().byteSize());
    }

    /** What a list would say of an open device. */
    public Listed listedOf(MemorySegment context) {
        return listed(memoryAt(ibv_context.device(context), ibv_device.layout().byteSize()));
    }

    /** -1 and errno on failure. */
    public void close(MemorySegment context, Attempt attempt) throws VerbsException {
        attempt.minusOne(
                call(() -> (int) CLOSE_DEVICE.invokeExact(closeDevice, segment(), context)));
    }

    /** Returns the errno. */
    public DeviceAttributes queryDevice(MemorySegment context, Attempt attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_device_attr.allocate(arena);
            attempt.errno(
                    call(() ->
                            (int)
                                    QUERY_DEVICE.invokeExact(
                                            queryDevice, segment(), context, attributes)));
            return AttributeReader.device(attributes);
        }
    }

    /** As much as the library knows; the rest is zero. Returns the errno. */
    public ExtendedDeviceAttributes queryDeviceExtended(VerbsContext context, Attempt attempt)
            throws VerbsException {
        var function = context.require(verbs_context.query_device_ex$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_device_attr_ex.allocate(arena);
            attempt.errno(
                    call(() ->
                            (int)
                                    QUERY_DEVICE_EX.invokeExact(
                                            function,
                                            segment(),
                                            context.address(),
                                            MemorySegment.NULL,
                                            attributes,
                                            attributes.byteSize())));
            return AttributeReader.extended(attributes);
        }
    }

    /** The device's clock. Returns the errno. */
    public long clock(VerbsContext context, Attempt attempt) throws VerbsException {
        var function = context.require(verbs_context.query_rt_values$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var values = ibv_values_ex.allocate(arena);
            ibv_values_ex.comp_mask(values, rdma_h.IBV_VALUES_MASK_RAW_CLOCK());
            attempt.errno(
                    call(() ->
                            (int)
                                    QUERY_RT_VALUES.invokeExact(
                                            function, segment(), context.address(), values)));
            if ((ibv_values_ex.comp_mask(values) & rdma_h.IBV_VALUES_MASK_RAW_CLOCK()) == 0) {
                throw attempt.failed(Errno.EOPNOTSUPP); // it says what it has filled in
            }
            var clock = ibv_values_ex.raw_clock(values);
            return timespec.tv_sec(clock) * NANOS_PER_SECOND + timespec.tv_nsec(clock);
        }
    }

    /**
     * The exported function fills a shorter structure than the context's, and is for old libraries.
     * Returns the errno.
     */
    public PortAttributes queryPort(VerbsContext context, int port, Attempt attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_port_attr.allocate(arena);
            var sized = context.find(verbs_context.query_port$offset());
            if (sized.isPresent()) {
                attempt.errno(
                        call(() ->
                                (int)
                                        QUERY_PORT_SIZED.invokeExact(
                                                sized.get(),
                                                segment(),
                                                context.address(),
                                                (byte) port,
                                                attributes,
                                                attributes.byteSize())));
            } else {
                attempt.errno(
                        call(() ->
                                (int)
                                        QUERY_PORT.invokeExact(
                                                queryPort,
                                                segment(),
                                                context.address(),
                                                (byte) port,
                                                attributes)));
            }
            return AttributeReader.port(port, attributes);
        }
    }

    /** How fast a port is, in units of 100 Mbit/s. Returns the errno. */
    public long queryPortSpeed(MemorySegment context, int port, Attempt attempt)
            throws VerbsException {
        var function = queryPortSpeed.orElseThrow(() -> attempt.failed(Errno.EOPNOTSUPP));
        try (var arena = Arena.ofConfined()) {
            var speed = arena.allocate(ValueLayout.JAVA_LONG);
            attempt.errno(
                    call(() ->
                            (int)
                                    QUERY_PORT_SPEED.invokeExact(
                                            function, segment(), context, port, speed)));
            return speed.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** A row of the GID table. The type is -1 where the library is too old to tell. */
    public record Gid(
            int port, int index, long prefix, long interfaceId, int type, int netDeviceIndex) {}

    /**
     * All rows in use, of all ports, or empty where the library has no such function. A negative
     * errno on failure.
     */
    public Optional<List<Gid>> queryGidTable(MemorySegment context, int capacity, Attempt attempt)
            throws VerbsException {
        if (queryGidTable.isEmpty()) {
            return Optional.empty();
        }
        try (var arena = Arena.ofConfined()) {
            var entries = ibv_gid_entry.allocateArray(capacity, arena);
            var count =
                    attempt.negativeErrno(
                            call(() ->
                                    (long)
                                            QUERY_GID_TABLE.invokeExact(
                                                    queryGidTable.get(),
                                                    segment(),
                                                    context,
                                                    entries,
                                                    (long) capacity,
                                                    0,
                                                    ibv_gid_entry.layout().byteSize())));
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
     * One row of the GID table, for libraries that cannot give the whole. Zeros where it is not in
     * use. -1 and errno on failure.
     */
    public Gid queryGid(MemorySegment context, int port, int index, Attempt attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var gid = ibv_gid.allocate(arena);
            attempt.minusOne(
                    call(() ->
                            (int)
                                    QUERY_GID.invokeExact(
                                            queryGid,
                                            segment(),
                                            context,
                                            (byte) port,
                                            index,
                                            gid)));
            return new Gid(
                    port, index, BigEndian.getLong(gid, 0), BigEndian.getLong(gid, 8), -1, 0);
        }
    }

    /** A partition key. -1 and errno on failure. */
    public int queryPartitionKey(MemorySegment context, int port, int index, Attempt attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var key = arena.allocate(ValueLayout.JAVA_SHORT);
            attempt.minusOne(
                    call(() ->
                            (int)
                                    QUERY_PKEY.invokeExact(
                                            queryPkey,
                                            segment(),
                                            context,
                                            (byte) port,
                                            index,
                                            key)));
            return BigEndian.getShort(key, 0) & 0xffff;
        }
    }

    /** An event: its type and either the address of the object it is about or a port's number. */
    public record Event(int type, long element) {
        /** The port's number, for an event about a port. */
        public int port() {
            return (int) element;
        }
    }

    /**
     * Takes the next event of a context whose descriptor does not block; empty where there is none.
     * -1 and errno on failure.
     */
    public <T> Optional<T> nextEvent(
            MemorySegment context, Function<Event, T> translate, Attempt attempt)
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
            // Now, and not before: the object that the event is about cannot be destroyed until
            // then.
            run(() -> {
                ACK_ASYNC_EVENT.invokeExact(ackAsyncEvent, segment(), event);
            });
            return Optional.of(translated);
        }
    }

    /** The number of an {@code ibv_fork_status}, or empty where the library is too old to tell. */
    public Optional<Integer> forkStatus() {
        return isForkInitialized.map(
                function -> call(() -> (int) IS_FORK_INITIALIZED.invokeExact(function, segment())));
    }
}
