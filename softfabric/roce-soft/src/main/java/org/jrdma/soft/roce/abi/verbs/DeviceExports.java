package org.jrdma.soft.roce.abi.verbs;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.nio.ByteOrder;
import org.jrdma.abi.rdma.ibv_async_event;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.ibv_gid;
import org.jrdma.abi.rdma.ibv_gid_entry;
import org.jrdma.abi.rdma.ibv_port_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.GidCodec;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.packet.BigEndian;

/** The functions of libibverbs for devices, their attributes and asynchronous events. */
public final class DeviceExports {

    private DeviceExports() {}

    @Exported(value = "ibv_free_device_list", failure = ErrorConvention.NONE)
    static void freeDeviceList(long list) {
        // Nothing to free: the library returns the same list for each call, and keeps it.
    }

    @Exported(value = "ibv_get_device_guid", failure = ErrorConvention.NONE)
    static long getDeviceGuid(long device) {
        return BigEndian.swap(DeviceObject.of(device).guid());
    }

    @Exported(value = "ibv_open_device", failure = ErrorConvention.NULL)
    public static long openDevice(long device) {
        return new ContextObject(DeviceObject.of(device), null, ControlPathFunctions.ALL)
                .address()
                .address();
    }

    @Exported(value = "ibv_close_device", failure = ErrorConvention.MINUS_ONE)
    public static int closeDevice(long context) {
        ContextObject.of(context).close();
        return 0;
    }

    @Exported(value = "ibv_query_device", failure = ErrorConvention.ERRNO)
    static int queryDevice(long context, long target) {
        CallerMemory.at(target, ibv_device_attr.layout())
                .copyFrom(DeviceAttributes.device(ContextObject.of(context)));
        return 0;
    }

    /**
     * Implements the symbol {@code ibv_query_port}. Fills only the members that the first version
     * of {@code ibv_port_attr} had. The programs that call this symbol may have been compiled with
     * that version, and have no memory for later members.
     */
    @Exported(value = "ibv_query_port", failure = ErrorConvention.ERRNO)
    static int queryPort(long context, byte port, long target) {
        var attributes = DeviceAttributes.port(ContextObject.of(context), port);
        var bytes = ibv_port_attr.port_cap_flags2$offset();
        CallerMemory.at(target, bytes).copyFrom(attributes.asSlice(0, bytes));
        return 0;
    }

    @Exported(value = "ibv_query_gid", failure = ErrorConvention.MINUS_ONE)
    static int queryGid(long context, byte port, int index, long target) {
        DeviceLimits.requirePort(port);
        requireIndex(DeviceLimits.GIDS, index);
        GidCodec.write(
                ContextObject.of(context).port().address(),
                CallerMemory.at(target, ibv_gid.layout()));
        return 0;
    }

    @Exported(value = "_ibv_query_gid_ex", failure = ErrorConvention.ERRNO)
    static int queryGidEntry(
            long context, int port, int index, long target, int flags, long entryBytes) {
        DeviceLimits.requirePort(port);
        requireIndex(DeviceLimits.GIDS, index);
        requireValidQuery(flags, entryBytes);
        fillGidEntry(context, target);
        return 0;
    }

    @Exported(value = "_ibv_query_gid_table", failure = ErrorConvention.NEGATIVE_ERRNO)
    static long queryGidTable(
            long context, long target, long capacity, int flags, long entryBytes) {
        requireValidQuery(flags, entryBytes);
        ErrnoException.throwIf(capacity < DeviceLimits.GIDS, Errno.EINVAL);
        fillGidEntry(context, target);
        return DeviceLimits.GIDS;
    }

    private static void requireValidQuery(int flags, long entryBytes) {
        ErrnoException.throwIf(
                flags != 0 || entryBytes < ibv_gid_entry.layout().byteSize(), Errno.EINVAL);
    }

    private static void fillGidEntry(long context, long target) {
        var port = ContextObject.of(context).port();
        var entry = CallerMemory.at(target, ibv_gid_entry.layout());
        GidCodec.write(port.address(), ibv_gid_entry.gid(entry));
        ibv_gid_entry.gid_index(entry, 0);
        ibv_gid_entry.port_num(entry, DeviceLimits.PORT);
        ibv_gid_entry.gid_type(entry, rdma_h.IBV_GID_TYPE_ROCE_V2());
        ibv_gid_entry.ndev_ifindex(entry, port.interfaceIndex());
    }

    @Exported(value = "ibv_query_pkey", failure = ErrorConvention.MINUS_ONE)
    static int queryPartitionKey(long context, byte port, int index, long target) {
        DeviceLimits.requirePort(port);
        requireIndex(DeviceLimits.PARTITION_KEYS, index);
        CallerMemory.at(target, Short.BYTES)
                .set(
                        JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN),
                        0,
                        (short) DeviceLimits.DEFAULT_PARTITION_KEY);
        return 0;
    }

    private static void requireIndex(int length, int index) {
        ErrnoException.throwIf(index < 0 || index >= length, Errno.EINVAL);
    }

    /**
     * Implements {@code ibv_get_async_event}. Fails with {@code EAGAIN} instead of waiting if there
     * is no event, as in C if the descriptor of the context is nonblocking.
     */
    @Exported(value = "ibv_get_async_event", failure = ErrorConvention.MINUS_ONE)
    static int getAsyncEvent(long context, long target) {
        ErrnoException.throwIf(
                !ContextObject.of(context)
                        .takeEvent(CallerMemory.at(target, ibv_async_event.layout())),
                Errno.EAGAIN);
        return 0;
    }

    @Exported(value = "ibv_ack_async_event", failure = ErrorConvention.NONE)
    static void acknowledgeAsyncEvent(long event) {
        var taken = CallerMemory.at(event, ibv_async_event.layout());
        var type = ibv_async_event.event_type(taken);
        if (type == rdma_h.IBV_EVENT_PORT_ACTIVE() || type == rdma_h.IBV_EVENT_PORT_ERR()) {
            return;
        }
        var element = ibv_async_event.element.qp(ibv_async_event.element(taken));
        StructureRegistry.object(element.address(), ContextResource.class)
                .asyncEvents()
                .acknowledged(1);
    }

    /**
     * Implements {@code ibv_is_fork_initialized}. Reports that fork is safe without preparation,
     * because this library does not pin pages.
     */
    @Exported(value = "ibv_is_fork_initialized", failure = ErrorConvention.NONE)
    static int isForkInitialized() {
        return rdma_h.IBV_FORK_UNNEEDED();
    }
}
