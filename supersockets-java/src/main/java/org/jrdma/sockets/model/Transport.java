package org.jrdma.sockets.model;

import java.util.Optional;

/**
 * A way that a stream of bytes can take to a peer. Immutable, and implemented by this module alone:
 * {@link org.jrdma.sockets.Transports} has all of them.
 */
public interface Transport {

    /** The name in programs, properties and reports: {@code tcp}. */
    String name();

    /** The reason why this machine cannot use the transport now; empty if it can. */
    Optional<String> whyNot();
}
