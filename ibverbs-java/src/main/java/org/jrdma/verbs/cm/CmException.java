package org.jrdma.verbs.cm;

import java.util.Optional;
import org.jrdma.verbs.cm.model.RejectReason;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a connection cannot be established. The message contains both addresses, the reason,
 * the local devices and, if known, the fix.
 */
public final class CmException extends VerbsException {

    private static final long serialVersionUID = 1L;

    private final transient ConnectionEvent.@Nullable Failure event;

    CmException(String function, String failure, ConnectionEvent.Failure event) {
        super(
                function,
                "%s: %s.%s%s"
                        .formatted(
                                failure,
                                event.reason(),
                                advice(event),
                                event.identifier().channel().devices().sentence()),
                event.code());
        this.event = event;
    }

    /**
     * Creates an exception for a step that failed, probably because the peer has timed out or
     * withdrawn its request.
     */
    CmException(String failure, VerbsException cause) {
        super(
                cause.function(),
                "%s: the peer has probably timed out or withdrawn its request: %s"
                        .formatted(failure, cause.getMessage()),
                cause.code());
        this.event = null;
    }

    private static String advice(ConnectionEvent.Failure event) {
        return switch (event) {
            case ConnectionEvent.Rejected rejected
                    when rejected.rejectReason() == RejectReason.NO_LISTENER ->
                    " Check that the peer's program is running and listens at this address and port. Its Listener.localAddress() returns both.";
            case ConnectionEvent.AddressError _ ->
                    " Use \"rdma link\" and \"ip address\" to list the addresses of RDMA devices.";
            default -> "";
        };
    }

    /**
     * The event that reported the failure. {@link ConnectionEvent.Rejected} contains the peer's
     * private data. Empty after deserialization, and if the peer withdrew its request, because the
     * kernel does not report an event in that case.
     */
    public Optional<ConnectionEvent.Failure> event() {
        return Optional.ofNullable(event);
    }
}
