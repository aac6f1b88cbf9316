package org.jrdma.verbs.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;
import static org.jrdma.ffi.linkage.Downcalls.run;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import java.util.function.Function;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_conn_param;
import org.jrdma.abi.rdma.rdma_event_channel;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.rdma_ud_param;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.VerbsException;

/** Calls the C functions of the connection manager's event channels. */
public final class EventChannelFunctions {

    private static final MethodHandle CREATE_EVENT_CHANNEL =
            capturingErrno(rdma_h.rdma_create_event_channel$descriptor());
    private static final MethodHandle DESTROY_EVENT_CHANNEL =
            capturingErrno(rdma_h.rdma_destroy_event_channel$descriptor());
    private static final MethodHandle GET_CM_EVENT =
            capturingErrno(rdma_h.rdma_get_cm_event$descriptor());

    /** The event is passed as a number, because a call that converts a segment allocates memory. */
    private static final MethodHandle ACK_CM_EVENT =
            capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

    /** The mask of the 3 bits of a retry count. Some kernels leave other bits of the byte set. */
    private static final int RETRIES = 7;

    private final MemorySegment createEventChannel;
    private final MemorySegment destroyEventChannel;
    private final MemorySegment getCmEvent;
    private final MemorySegment ackCmEvent;

    public EventChannelFunctions(NativeLibrary library) throws LibraryNotFoundException {
        createEventChannel = library.require("rdma_create_event_channel");
        destroyEventChannel = library.require("rdma_destroy_event_channel");
        getCmEvent = library.require("rdma_get_cm_event");
        ackCmEvent = library.require("rdma_ack_cm_event");
    }

    /** Creates an event channel. The C function returns NULL and sets errno on failure. */
    public MemorySegment createChannel(CheckedCall attempt) throws VerbsException {
        return attempt.structure(
                rdma_event_channel.layout(),
                () ->
                        (MemorySegment)
                                CREATE_EVENT_CHANNEL.invokeExact(createEventChannel, segment()));
    }

    public static int descriptor(MemorySegment channel) {
        return rdma_event_channel.fd(channel);
    }

    /** Destroys an event channel. The C function cannot fail. */
    public void destroyChannel(MemorySegment channel) {
        run(() -> {
            DESTROY_EVENT_CHANNEL.invokeExact(destroyEventChannel, segment(), channel);
        });
    }

    /**
     * A copy of an event of the connection manager.
     *
     * @param type the event type
     * @param typeNumber the number of the event type
     * @param status 0, a positive or negative errno, or a status number of the fabric
     * @param identifier the {@code rdma_cm_id} that the event concerns
     * @param listener the {@code rdma_cm_id} of the listener that received a connect request
     * @param ofDatagrams true if {@code datagrams} is valid, false if {@code connection} is valid
     * @param context for an event of a multicast group, the number that was passed when the group
     *     was joined; for an event that the program wrote, its argument; otherwise 0
     */
    public record Event(
            ConnectionEventType type,
            int typeNumber,
            int status,
            MemorySegment identifier,
            MemorySegment listener,
            boolean ofDatagrams,
            ConnectionParameters connection,
            DatagramParameters datagrams,
            long context,
            PrivateData privateData) {}

    /**
     * Takes and acknowledges events of a channel until the reader returns a result. Returns an
     * empty Optional if there are no more events; the channel's descriptor must be non-blocking.
     * The C function returns -1 and sets errno on failure. The result of the acknowledgement is
     * ignored.
     *
     * @param reader converts an event. Called before the event is acknowledged, because the {@code
     *     rdma_cm_id} can be destroyed after the acknowledgement. An empty result discards the
     *     event
     */
    public <T> Optional<T> take(
            MemorySegment channel, Function<Event, Optional<T>> reader, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var pointer = arena.allocate(JAVA_LONG);
            // Created first: when the event has been taken, there may be too little memory for it,
            // and without the acknowledgement, the rdma_cm_id could not be destroyed.
            Downcalls.VoidCall acknowledgement =
                    () -> {
                        var _ =
                                (int)
                                        ACK_CM_EVENT.invokeExact(
                                                ackCmEvent, segment(), pointer.get(JAVA_LONG, 0));
                    };
            while (true) {
                int result =
                        call(() ->
                                (int)
                                        GET_CM_EVENT.invokeExact(
                                                getCmEvent, segment(), channel, pointer));
                if (result < 0) {
                    if (CapturedErrno.value() == Errno.EAGAIN) {
                        return Optional.empty();
                    }
                    throw attempt.failed(CapturedErrno.value());
                }
                Optional<T> read;
                try {
                    var event = MemorySegment.ofAddress(pointer.get(JAVA_LONG, 0));
                    read = reader.apply(copy(memoryAt(event, rdma_cm_event.layout().byteSize())));
                } finally {
                    run(acknowledgement);
                }
                if (read.isPresent()) {
                    return read;
                }
            }
        }
    }

    private static Event copy(MemorySegment event) {
        var identifier = memoryAt(rdma_cm_event.id(event), rdma_cm_id.layout().byteSize());
        var parameters = rdma_cm_event.param(event);
        var connection = rdma_cm_event.param.conn(parameters);
        var datagrams = rdma_cm_event.param.ud(parameters);
        var typeNumber = rdma_cm_event.event(event);
        var type = VerbsEnumCodes.CONNECTION_EVENT_TYPE.of(typeNumber);
        // The pointer to the private data has the same offset in rdma_conn_param and rdma_ud_param.
        // Events with a context contain the context instead of this pointer.
        var data = rdma_conn_param.private_data(connection);
        var hasContext =
                switch (type) {
                    case MULTICAST_JOINED, MULTICAST_ERROR, USER_DEFINED -> true;
                    default -> false;
                };
        return new Event(
                type,
                typeNumber,
                rdma_cm_event.status(event),
                identifier,
                rdma_cm_event.listen_id(event),
                rdma_cm_id.qp_type(identifier) == rdma_h.IBV_QPT_UD(),
                new ConnectionParameters(
                        rdma_conn_param.qp_num(connection) & 0xff_ffff,
                        rdma_conn_param.srq(connection) != 0,
                        Byte.toUnsignedInt(rdma_conn_param.responder_resources(connection)),
                        Byte.toUnsignedInt(rdma_conn_param.initiator_depth(connection)),
                        rdma_conn_param.retry_count(connection) & RETRIES,
                        rdma_conn_param.rnr_retry_count(connection) & RETRIES),
                new DatagramParameters(
                        AddressVectorCodec.read(rdma_ud_param.ah_attr(datagrams)),
                        rdma_ud_param.qp_num(datagrams),
                        rdma_ud_param.qkey(datagrams)),
                hasContext ? data.address() : 0,
                hasContext
                        ? PrivateData.of()
                        : privateData(
                                data,
                                Byte.toUnsignedInt(rdma_conn_param.private_data_len(connection))));
    }

    private static PrivateData privateData(MemorySegment data, int length) {
        return data.address() == 0 || length == 0
                ? PrivateData.of()
                : PrivateData.of(memoryAt(data, length).toArray(ValueLayout.JAVA_BYTE));
    }
}
