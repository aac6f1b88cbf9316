package org.jrdma.verbs.cm;

import java.util.Optional;
import org.jrdma.verbs.cm.model.RejectReason;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A connection that did not come about: from where to where, the answer in words, and what to do
 * where that is known.
 */
public final class CmException extends VerbsException {

    private static final long serialVersionUID = 1L;

    private final transient ConnectionEvent.@Nullable Failure event;

    CmException(String function, String attempt, ConnectionEvent.Failure event) {
        super(
                function,
                "%s: %s.%s".formatted(attempt, event.reason(), advice(event)),
                event.code());
        this.event = event;
    }

    /** A step that is refused because the peer has ended what the step was of. */
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
                    " See that its program runs, and listens at that port and address.";
            case ConnectionEvent.AddressError _ ->
                    " \"rdma link\" and \"ip address\" show which addresses are of RDMA devices.";
            default -> "";
        };
    }

    /**
     * What the system said. Of a refusal it is {@link ConnectionEvent.Rejected}, with the peer's
     * private data. Empty after serialization, and where a request was withdrawn of which the
     * kernel does not tell: then a step just fails.
     */
    public Optional<ConnectionEvent.Failure> event() {
        return Optional.ofNullable(event);
    }
}
