package org.jrdma.verbs.cm;

import java.util.Optional;
import org.jrdma.verbs.cm.handle.NativeIdentifier;
import org.jrdma.verbs.internal.ConnectionEventType;
import org.jrdma.verbs.internal.EventChannelFunctions.Event;

/** Translates native events to {@link ConnectionEvent}s. */
final class EventTranslation {

    private EventTranslation() {}

    /**
     * Translates an event that is not a request. The event channel translates requests itself,
     * because it creates an identifier for each request.
     */
    static ConnectionEvent of(Identifier identifier, Event event) {
        return switch (event.type()) {
            case ADDRESS_RESOLVED -> new ConnectionEvent.AddressResolved(identifier);
            case ADDRESS_ERROR -> new ConnectionEvent.AddressError(identifier, errno(event));
            case ROUTE_RESOLVED -> new ConnectionEvent.RouteResolved(identifier);
            case ROUTE_ERROR -> new ConnectionEvent.RouteError(identifier, errno(event));
            case CONNECT_RESPONSE ->
                    new ConnectionEvent.ConnectResponse(
                            identifier, event.connection(), event.privateData());
            case CONNECT_ERROR -> new ConnectionEvent.ConnectError(identifier, errno(event));
            case UNREACHABLE ->
                    new ConnectionEvent.Unreachable(
                            identifier, event.status(), event.privateData());
            case REJECTED ->
                    new ConnectionEvent.Rejected(identifier, event.status(), event.privateData());
            case ESTABLISHED -> established(identifier, event);
            case DISCONNECTED -> new ConnectionEvent.Disconnected(identifier);
            case DEVICE_REMOVED -> new ConnectionEvent.DeviceRemoved(identifier);
            case MULTICAST_JOINED, MULTICAST_ERROR -> ofGroup(identifier, event);
            case ADDRESS_CHANGED -> new ConnectionEvent.AddressChanged(identifier);
            case TIME_WAIT_EXIT -> new ConnectionEvent.TimeWaitExit(identifier);
            case ADDRESS_INFO_RESOLVED -> new ConnectionEvent.AddressInfoResolved(identifier);
            case ADDRESS_INFO_ERROR ->
                    new ConnectionEvent.AddressInfoError(identifier, errno(event));
            case USER_DEFINED ->
                    new ConnectionEvent.UserDefined(identifier, event.status(), event.context());
            case CONNECT_REQUEST, UNKNOWN -> other(identifier, event);
        };
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

    /** Translates an event of a multicast group, which the program may have left meanwhile. */
    private static ConnectionEvent ofGroup(Identifier identifier, Event event) {
        var group = identifier.nativeIdentifier().groups().group(event.context());
        if (group.isEmpty()) {
            return other(identifier, event);
        }
        return event.type() == ConnectionEventType.MULTICAST_JOINED
                ? new ConnectionEvent.MulticastJoined(identifier, group.get(), event.datagrams())
                : new ConnectionEvent.MulticastError(identifier, group.get(), errno(event));
    }

    private static ConnectionEvent other(Identifier identifier, Event event) {
        return new ConnectionEvent.Other(identifier, event.typeNumber(), event.status());
    }
}
