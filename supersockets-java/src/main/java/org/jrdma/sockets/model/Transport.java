package org.jrdma.sockets.model;

import java.util.Optional;

/**
 * A transport for a byte stream to a peer. Immutable. Only this module implements the interface;
 * {@link org.jrdma.sockets.Transports} returns all implementations.
 */
public interface Transport {

    /** Returns the name in programs, properties and reports, for example {@code tcp}. */
    String name();

    /** Returns why this machine cannot use the transport now; empty if it can. */
    Optional<String> whyNot();
}
