package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.abi.rdma.ibv_ece;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_addrinfo;
import org.jrdma.abi.rdma.rdma_cm_join_mc_attr_ex;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Exports;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.connection.EceOptions;
import org.jrdma.soft.roce.connection.RejectionReason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Implements the functions of librdmacm on a list of devices. Functions that change identifiers
 * hold the lock of this object. A thread that holds this lock may wait for the lock of a port,
 * which other threads hold only for a short time.
 */
public final class ConnectionExports {

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionExports.class);

    private static final long RETRY_NANOS = 10_000_000;

    private final ConnectionDevices devices;
    private final Executor nameResolver;
    private final PortReservations ports = new PortReservations(new SecureRandom());

    ConnectionExports(List<DeviceObject> devices) {
        this(devices, task -> Thread.ofPlatform().daemon().name("jrdma-soft-names").start(task));
    }

    /**
     * Creates the implementation of the functions.
     *
     * @param nameResolver an executor for tasks that resolve host names. The tasks block
     */
    ConnectionExports(List<DeviceObject> devices, Executor nameResolver) {
        this.devices = new ConnectionDevices(devices);
        this.nameResolver = nameResolver;
    }

    /**
     * Returns a lookup that finds the symbols of librdmacm. The functions use the given devices.
     */
    public static SymbolLookup library(List<DeviceObject> devices) {
        var lookup = MethodHandles.lookup();
        return Exports.ofReceiver(lookup, new ConnectionExports(devices))
                .or(Exports.of(lookup, AddressInfoExports.class));
    }

    @Exported(value = "rdma_create_event_channel", failure = ErrorConvention.NULL)
    long createChannel() {
        return new EventChannelObject().structure().address();
    }

    /**
     * Implements {@code rdma_destroy_event_channel}. The program must have destroyed each {@code
     * rdma_cm_id} of the channel before.
     */
    @Exported(value = "rdma_destroy_event_channel", failure = ErrorConvention.NONE)
    void destroyChannel(long channel) {
        EventChannelObject.of(channel).destroy();
    }

    /**
     * Implements {@code rdma_create_id}. The caller must pass an event channel: an {@code
     * rdma_cm_id} without one, whose functions block, is not supported.
     */
    @Exported(value = "rdma_create_id", failure = ErrorConvention.MINUS_ONE)
    int createIdentifier(long channel, long target, long context, int portSpace) {
        var created =
                new IdentifierObject(
                        devices, ports, EventChannelObject.of(channel), context, portSpace);
        CallerMemory.setPointer(target, created.structure());
        return 0;
    }

    /**
     * Implements {@code rdma_create_ep} for listeners: creates an {@code rdma_cm_id} that is bound
     * to an address and has no queue pair. For connecting, the function fails with {@code
     * EOPNOTSUPP}, because it would have to block until the address is resolved.
     */
    @Exported(value = "rdma_create_ep", failure = ErrorConvention.MINUS_ONE)
    synchronized int createEndpoint(long target, long address, long domain, long queuePair) {
        var requested = CallerMemory.at(address, rdma_addrinfo.layout());
        ErrnoException.throwIf(
                (rdma_addrinfo.ai_flags(requested) & rdma_h.RAI_PASSIVE()) == 0
                        || domain != 0
                        || queuePair != 0,
                Errno.EOPNOTSUPP);
        var name = SocketName.read(rdma_addrinfo.ai_src_addr(requested).address());
        var created =
                IdentifierObject.ofType(
                        devices,
                        ports,
                        PortSpaceAndQueueType.of(
                                rdma_addrinfo.ai_port_space(requested),
                                rdma_addrinfo.ai_qp_type(requested)));
        try {
            created.bind(name);
        } catch (Throwable e) {
            created.stop();
            created.destroy();
            throw e;
        }
        CallerMemory.setPointer(target, created.structure());
        return 0;
    }

    /**
     * Implements {@code rdma_destroy_id}. Waits until the program has acknowledged all events of
     * the {@code rdma_cm_id} that it has received.
     */
    @Exported(value = "rdma_destroy_id", failure = ErrorConvention.MINUS_ONE)
    int destroyIdentifier(long identifier) {
        var found = IdentifierObject.of(identifier);
        synchronized (this) {
            found.stop();
        }
        found.events().unacknowledged().awaitNone();
        synchronized (this) {
            found.destroy();
        }
        return 0;
    }

    @Exported(value = "rdma_bind_addr", failure = ErrorConvention.MINUS_ONE)
    synchronized int bind(long identifier, long name) {
        IdentifierObject.of(identifier).bind(SocketName.read(name));
        return 0;
    }

    /**
     * Implements {@code rdma_resolve_addr}. The result is available immediately, so the timeout is
     * ignored.
     */
    @Exported(value = "rdma_resolve_addr", failure = ErrorConvention.MINUS_ONE)
    synchronized int resolveAddress(long identifier, long from, long to, int milliseconds) {
        IdentifierObject.of(identifier)
                .resolveAddress(from == 0 ? null : SocketName.read(from), SocketName.read(to));
        return 0;
    }

    /**
     * Implements {@code rdma_resolve_route}. The result is available immediately, so the timeout is
     * ignored.
     */
    @Exported(value = "rdma_resolve_route", failure = ErrorConvention.MINUS_ONE)
    synchronized int resolveRoute(long identifier, int milliseconds) {
        IdentifierObject.of(identifier).resolveRoute();
        return 0;
    }

    /**
     * Implements {@code rdma_resolve_addrinfo}: starts a lookup and returns without waiting for its
     * result. A host name is resolved by the executor for name resolution.
     */
    @Exported(value = "rdma_resolve_addrinfo", failure = ErrorConvention.MINUS_ONE)
    int lookUp(long identifier, long host, long service, long hints) {
        var found = IdentifierObject.of(identifier);
        var requested = AddressInfoQuery.read(host, service, hints);
        synchronized (this) {
            found.addressInfo().begin();
        }
        var started = false;
        try {
            if (requested.isNumeric()) {
                answer(found, requested);
            } else {
                nameResolver.execute(() -> lookUp(found, requested));
            }
            started = true;
        } finally {
            if (!started) {
                synchronized (this) {
                    found.addressInfo().cancel();
                }
            }
        }
        return 0;
    }

    /**
     * Resolves a name and reports the result to the program. If memory is exhausted, resolving and
     * reporting are repeated until both succeed.
     */
    private void lookUp(IdentifierObject identifier, AddressInfoQuery requested) {
        while (true) {
            try {
                answer(identifier, requested);
                return;
            } catch (VirtualMachineError e) {
                LockSupport.parkNanos(this, RETRY_NANOS);
            } catch (Throwable e) {
                LOG.error("Cannot resolve {}", requested, e);
                synchronized (this) {
                    identifier.addressInfo().notFound();
                }
                return;
            }
        }
    }

    private void answer(IdentifierObject identifier, AddressInfoQuery requested) {
        @Nullable MemorySegment info;
        try {
            info = requested.resolve();
        } catch (UnknownHostException e) {
            info = null;
        }
        synchronized (this) {
            if (info == null) {
                identifier.addressInfo().notFound();
            } else {
                identifier.addressInfo().found(info);
            }
        }
    }

    @Exported(value = "rdma_query_addrinfo", failure = ErrorConvention.MINUS_ONE)
    synchronized int takeAddressInfo(long identifier, long target) {
        CallerMemory.setPointer(target, IdentifierObject.of(identifier).addressInfo().take());
        return 0;
    }

    @Exported(value = "rdma_write_cm_event", failure = ErrorConvention.MINUS_ONE)
    synchronized int write(long identifier, int event, int status, long argument) {
        ErrnoException.throwIf(event != rdma_h.RDMA_CM_EVENT_USER(), Errno.EINVAL);
        IdentifierObject.of(identifier).written(status, argument);
        return 0;
    }

    @Exported(value = "rdma_listen", failure = ErrorConvention.MINUS_ONE)
    synchronized int listen(long identifier, int backlog) {
        IdentifierObject.of(identifier).listen(backlog);
        return 0;
    }

    @Exported(value = "rdma_connect", failure = ErrorConvention.MINUS_ONE)
    synchronized int connect(long identifier, long parameters) {
        IdentifierObject.of(identifier).connect(parameters);
        return 0;
    }

    @Exported(value = "rdma_accept", failure = ErrorConvention.MINUS_ONE)
    synchronized int accept(long identifier, long parameters) {
        IdentifierObject.of(identifier).accept(parameters);
        return 0;
    }

    @Exported(value = "rdma_establish", failure = ErrorConvention.MINUS_ONE)
    synchronized int establish(long identifier) {
        IdentifierObject.of(identifier).accept(0);
        return 0;
    }

    @Exported(value = "rdma_reject", failure = ErrorConvention.MINUS_ONE)
    synchronized int reject(long identifier, long privateData, byte length) {
        IdentifierObject.of(identifier).reject(RejectionReason.CONSUMER, privateData, length);
        return 0;
    }

    @Exported(value = "rdma_reject_ece", failure = ErrorConvention.MINUS_ONE)
    synchronized int rejectEnhancement(long identifier, long privateData, byte length) {
        IdentifierObject.of(identifier)
                .reject(RejectionReason.VENDOR_OPTION_NOT_SUPPORTED, privateData, length);
        return 0;
    }

    @Exported(value = "rdma_set_local_ece", failure = ErrorConvention.MINUS_ONE)
    synchronized int setEnhancement(long identifier, long ece) {
        var requested = CallerMemory.at(ece, ibv_ece.layout());
        ErrnoException.throwIf(
                ibv_ece.vendor_id(requested) == 0 || ibv_ece.comp_mask(requested) != 0,
                Errno.EINVAL);
        IdentifierObject.of(identifier)
                .enhancement(
                        new EceOptions(ibv_ece.vendor_id(requested), ibv_ece.options(requested)));
        return 0;
    }

    @Exported(value = "rdma_get_remote_ece", failure = ErrorConvention.MINUS_ONE)
    synchronized int peersEnhancement(long identifier, long ece) {
        var options = IdentifierObject.of(identifier).peersEnhancement();
        var target = CallerMemory.at(ece, ibv_ece.layout());
        ibv_ece.vendor_id(target, options.vendor());
        ibv_ece.options(target, options.options());
        ibv_ece.comp_mask(target, 0);
        return 0;
    }

    @Exported(value = "rdma_disconnect", failure = ErrorConvention.MINUS_ONE)
    synchronized int disconnect(long identifier) {
        IdentifierObject.of(identifier).disconnect();
        return 0;
    }

    @Exported(value = "rdma_join_multicast", failure = ErrorConvention.MINUS_ONE)
    synchronized int join(long identifier, long name, long context) {
        IdentifierObject.of(identifier).join(SocketName.read(name).address(), true, context);
        return 0;
    }

    @Exported(value = "rdma_join_multicast_ex", failure = ErrorConvention.MINUS_ONE)
    synchronized int joinAs(long identifier, long attributes, long context) {
        var requested = CallerMemory.at(attributes, rdma_cm_join_mc_attr_ex.layout());
        var mask = rdma_cm_join_mc_attr_ex.comp_mask(requested);
        ErrnoException.throwIf(mask >= rdma_h.RDMA_CM_JOIN_MC_ATTR_RESERVED(), Errno.EOPNOTSUPP);
        var flags = rdma_cm_join_mc_attr_ex.join_flags(requested);
        ErrnoException.throwIf(
                mask != rdma_h.RDMA_CM_JOIN_MC_ATTR_RESERVED() - 1
                        || flags >= rdma_h.RDMA_MC_JOIN_FLAG_RESERVED(),
                Errno.EINVAL);
        IdentifierObject.of(identifier)
                .join(
                        SocketName.read(rdma_cm_join_mc_attr_ex.addr(requested).address())
                                .address(),
                        flags == rdma_h.RDMA_MC_JOIN_FLAG_FULLMEMBER(),
                        context);
        return 0;
    }

    @Exported(value = "rdma_leave_multicast", failure = ErrorConvention.MINUS_ONE)
    synchronized int leave(long identifier, long name) {
        IdentifierObject.of(identifier).leave(SocketName.read(name).address());
        return 0;
    }

    @Exported(value = "rdma_notify", failure = ErrorConvention.MINUS_ONE)
    synchronized int notifyEvent(long identifier, int event) {
        IdentifierObject.of(identifier).notifyEvent(event);
        return 0;
    }

    @Exported(value = "rdma_set_option", failure = ErrorConvention.MINUS_ONE)
    synchronized int setOption(long identifier, int level, int option, long value, long length) {
        var found = IdentifierObject.of(identifier);
        ErrnoException.throwIf(level != rdma_h.RDMA_OPTION_ID(), Errno.ENOSYS);
        if (option == rdma_h.RDMA_OPTION_ID_TOS()) {
            found.typeOfService(unsignedByte(value, length));
        } else if (option == rdma_h.RDMA_OPTION_ID_REUSEADDR()) {
            found.reuseAddress(flag(value, length));
        } else if (option == rdma_h.RDMA_OPTION_ID_AFONLY()) {
            found.familyOnly(flag(value, length));
        } else if (option == rdma_h.RDMA_OPTION_ID_ACK_TIMEOUT()) {
            found.acknowledgeTimeout(unsignedByte(value, length) & 31);
        } else {
            throw new ErrnoException(Errno.ENOSYS);
        }
        return 0;
    }

    private static int unsignedByte(long value, long length) {
        return Byte.toUnsignedInt(
                CallerMemory.at(value, requireLength(Byte.BYTES, length))
                        .get(ValueLayout.JAVA_BYTE, 0));
    }

    private static boolean flag(long value, long length) {
        return CallerMemory.at(value, requireLength(Integer.BYTES, length))
                        .get(ValueLayout.JAVA_INT, 0)
                != 0;
    }

    private static int requireLength(int expected, long length) {
        ErrnoException.throwIf(length != expected, Errno.EINVAL);
        return expected;
    }

    /**
     * Implements {@code rdma_migrate_id}. Waits until the program has acknowledged the events that
     * it has received from the previous channel.
     */
    @Exported(value = "rdma_migrate_id", failure = ErrorConvention.MINUS_ONE)
    int migrate(long identifier, long channel) {
        var found = IdentifierObject.of(identifier);
        synchronized (this) {
            found.migrate(EventChannelObject.of(channel));
        }
        found.events().unacknowledged().awaitNone();
        return 0;
    }

    @Exported(value = "rdma_init_qp_attr", failure = ErrorConvention.MINUS_ONE)
    synchronized int initialize(long identifier, long attributes, long maskTarget) {
        var requested = CallerMemory.at(attributes, ibv_qp_attr.layout());
        var mask =
                IdentifierObject.of(identifier)
                        .initialize(requested, ibv_qp_attr.qp_state(requested));
        CallerMemory.setInt(maskTarget, mask);
        return 0;
    }

    /**
     * Implements {@code rdma_get_cm_event}. Fails with {@code EAGAIN} instead of waiting if there
     * is no event, as in C if the descriptor of the channel is nonblocking.
     */
    @Exported(value = "rdma_get_cm_event", failure = ErrorConvention.MINUS_ONE)
    synchronized int takeEvent(long channel, long target) {
        var events = EventChannelObject.of(channel);
        var next = events.first();
        if (next == null) {
            throw new ErrnoException(Errno.EAGAIN);
        }
        if (next.listener() != null) {
            next.identifier().createRequestStructure();
        }
        // The event is removed last, so that it is not lost if there is too little memory.
        CallerMemory.setPointer(target, new ConnectionEventObject(next).structure());
        events.removeFirst();
        if (next.listener() != null) {
            next.listener().requestTaken();
        }
        return 0;
    }

    @Exported(value = "rdma_ack_cm_event", failure = ErrorConvention.MINUS_ONE)
    int acknowledge(long event) {
        ConnectionEventObject.of(event).acknowledge();
        return 0;
    }
}
