package org.jrdma.verbs.cm;

import java.util.Optional;
import org.jrdma.verbs.cm.model.RejectReason;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A connection that failed: its message has both addresses, the reason, the local devices and, if
 * known, the remedy.
 */
public final class CmException extends VerbsException {

    private static final long serialVersionUID = 1L;

    private final transient ConnectionEvent.@Nullable Failure event;

    CmException(String function, String attempt, ConnectionEvent.Failure event) {
        super(
                function,
                "%s: %s.%s%s"
                        .formatted(
                                attempt,
                                event.reason(),
                                advice(event),
                                event.identifier().channel().devices().sentence()),
                event.code());
        this.event = event;
    }

    /** The failure of a step whose cause is probably that the peer has given up. */
    CmException(String attempt, VerbsException step) {
        super(
                step.function(),
                "%s: the peer has given up, most likely: %s".formatted(attempt, step.getMessage()),
                step.code());
        this.event = null;
    }

    private static String advice(ConnectionEvent.Failure event) {
        return switch (event) {
            case ConnectionEvent.Rejected rejected
                    when rejected.rejectReason() == RejectReason.NO_LISTENER ->
                    " See that its program runs, and listens at that port and address: on the other machine or process, Listener.localAddress() has the address that it serves.";
            case ConnectionEvent.AddressError _ ->
                    " \"rdma link\" and \"ip address\" show which addresses are of RDMA devices.";
            default -> "";
        };
    }

    /**
     * The event that ended the attempt; {@link ConnectionEvent.Rejected} has the peer's private
     * data. Empty after serialization, and if the peer withdrew its request, for which the kernel
     * has no event.
     */
    public Optional<ConnectionEvent.Failure> event() {
        return Optional.ofNullable(event);
    }
}
