package org.jrdma.verbs.cm;

import static java.util.Map.entry;

import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.verbs.cm.handle.NativeIdentifier;
import org.jrdma.verbs.internal.EventChannelFunctions.Event;

/** Translates native events to {@link ConnectionEvent}s. */
final class EventTranslation {

    /**
     * The functions that create the events of the API, by native event type. Requests are not
     * included, because the event channel creates an identifier for each request.
     */
    private static final Map<Integer, BiFunction<Identifier, Event, ConnectionEvent>> BY_TYPE =
            Map.ofEntries(
                    entry(
                            rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(),
                            (identifier, _) -> new ConnectionEvent.AddressResolved(identifier)),
                    entry(
                            rdma_h.RDMA_CM_EVENT_ADDR_ERROR(),
                            (identifier, event) ->
                                    new ConnectionEvent.AddressError(identifier, errno(event))),
                    entry(
                            rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(),
                            (identifier, _) -> new ConnectionEvent.RouteResolved(identifier)),
                    entry(
                            rdma_h.RDMA_CM_EVENT_ROUTE_ERROR(),
                            (identifier, event) ->
                                    new ConnectionEvent.RouteError(identifier, errno(event))),
                    entry(
                            rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(),
                            (identifier, event) ->
                                    new ConnectionEvent.ConnectResponse(
                                            identifier, event.connection(), event.privateData())),
                    entry(rdma_h.RDMA_CM_EVENT_ESTABLISHED(), EventTranslation::established),
                    entry(
                            rdma_h.RDMA_CM_EVENT_REJECTED(),
                            (identifier, event) ->
                                    new ConnectionEvent.Rejected(
                                            identifier, event.status(), event.privateData())),
                    entry(
                            rdma_h.RDMA_CM_EVENT_UNREACHABLE(),
                            (identifier, event) ->
                                    new ConnectionEvent.Unreachable(
                                            identifier, event.status(), event.privateData())),
                    entry(
                            rdma_h.RDMA_CM_EVENT_CONNECT_ERROR(),
                            (identifier, event) ->
                                    new ConnectionEvent.ConnectError(identifier, errno(event))),
                    entry(
                            rdma_h.RDMA_CM_EVENT_DISCONNECTED(),
                            (identifier, _) -> new ConnectionEvent.Disconnected(identifier)),
                    entry(
                            rdma_h.RDMA_CM_EVENT_MULTICAST_JOIN(),
                            (identifier, event) ->
                                    ofGroup(
                                            identifier,
                                            event,
                                            group ->
                                                    new ConnectionEvent.MulticastJoined(
                                                            identifier, group, event.datagrams()))),
                    entry(
                            rdma_h.RDMA_CM_EVENT_MULTICAST_ERROR(),
                            (identifier, event) ->
                                    ofGroup(
                                            identifier,
                                            event,
                                            group ->
                                                    new ConnectionEvent.MulticastError(
                                                            identifier, group, errno(event)))),
                    entry(
                            rdma_h.RDMA_CM_EVENT_DEVICE_REMOVAL(),
                            (identifier, _) -> new ConnectionEvent.DeviceRemoved(identifier)),
                    entry(
                            rdma_h.RDMA_CM_EVENT_ADDR_CHANGE(),
                            (identifier, _) -> new ConnectionEvent.AddressChanged(identifier)),
                    entry(
                            rdma_h.RDMA_CM_EVENT_TIMEWAIT_EXIT(),
                            (identifier, _) -> new ConnectionEvent.TimeWaitExit(identifier)),
                    entry(
                            rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED(),
                            (identifier, _) -> new ConnectionEvent.AddressInfoResolved(identifier)),
                    entry(
                            rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR(),
                            (identifier, event) ->
                                    new ConnectionEvent.AddressInfoError(identifier, errno(event))),
                    entry(
                            rdma_h.RDMA_CM_EVENT_USER(),
                            (identifier, event) ->
                                    new ConnectionEvent.UserDefined(
                                            identifier, event.status(), event.context())));

    private EventTranslation() {}

    /** Translates an event that is not a request. */
    static ConnectionEvent of(Identifier identifier, Event event) {
        return BY_TYPE.getOrDefault(event.type(), EventTranslation::other).apply(identifier, event);
    }

    /**
     * Returns the kind of call that has completed according to the event; empty if the event
     * reports another call. The function itself may not have returned yet.
     */
    static Optional<NativeIdentifier.Call> answeredCall(ConnectionEvent event) {
        return switch (event) {
            case ConnectionEvent.AddressInfoResolved _, ConnectionEvent.AddressInfoError _ ->
                    Optional.of(NativeIdentifier.Call.LOOK_UP);
            case ConnectionEvent.ConnectResponse _,
                    ConnectionEvent.Established _,
                    ConnectionEvent.DatagramEstablished _,
                    ConnectionEvent.Rejected _,
                    ConnectionEvent.Unreachable _,
                    ConnectionEvent.ConnectError _ ->
                    Optional.of(NativeIdentifier.Call.CONNECT);
            default -> Optional.empty();
        };
    }

    /** Returns the errno of a failure, which some kernels report as a negative number. */
    private static int errno(Event event) {
        return Math.abs(event.status());
    }

    private static ConnectionEvent established(Identifier identifier, Event event) {
        return event.ofDatagrams()
                ? new ConnectionEvent.DatagramEstablished(
                        identifier, event.datagrams(), event.privateData())
                : new ConnectionEvent.Established(
                        identifier, event.connection(), event.privateData());
    }

    private static ConnectionEvent ofGroup(
            Identifier identifier,
            Event event,
            Function<InetAddress, ConnectionEvent> translation) {
        return identifier
                .nativeIdentifier()
                .groups()
                .group(event.context())
                .map(translation)
                .orElseGet(() -> other(identifier, event));
    }

    private static ConnectionEvent other(Identifier identifier, Event event) {
        return new ConnectionEvent.Other(identifier, event.type(), event.status());
    }
}
