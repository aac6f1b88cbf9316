package org.jrdma.sockets.model;

import java.util.Optional;

/**
 * A transport for byte streams. Immutable. Only this module implements this interface; the methods
 * of {@link org.jrdma.sockets.Transports} return all implementations.
 */
public interface Transport {

    /**
     * Returns the name of the transport in properties, policies and reports, for example {@code
     * tcp}.
     */
    String name();

    /**
     * Returns the reason why this machine cannot use the transport now; empty if it can use the
     * transport.
     */
    Optional<String> whyNot();
}
