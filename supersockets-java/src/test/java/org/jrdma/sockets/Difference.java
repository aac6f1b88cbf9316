package org.jrdma.sockets;

import static org.jrdma.sockets.Implementation.RSOCKET;
import static org.jrdma.sockets.Implementation.SISCI;
import static org.jrdma.sockets.Implementation.SMC;
import static org.jrdma.sockets.Implementation.SUPERSOCKETS;
import static org.jrdma.sockets.Implementation.SUPERSOCKETS_OF_SMC;
import static org.jrdma.sockets.Implementation.TCP;

import java.util.Set;

/**
 * Where a transport may differ from the JDK's channels, and why. The tests of the points named here
 * ask for the one answer or for the other; everywhere else there is one answer.
 */
enum Difference {
    /**
     * The JDK keeps the descriptor of a closed channel until its selector selects again, and a
     * listener's port with it; these channels end at once.
     */
    CLOSED_LISTENER_FREES_ITS_PORT_AT_ONCE(
            TCP, SUPERSOCKETS, SISCI, RSOCKET, SMC, SUPERSOCKETS_OF_SMC),

    /** SuperSockets are for IPv4; a listener that is opened without a family hears that alone. */
    LISTENS_ON_IPV4_ALONE(SUPERSOCKETS, SUPERSOCKETS_OF_SMC),

    /** The credentials of a peer within this machine, SO_PEERCRED, are not offered. */
    NO_PEER_CREDENTIALS(TCP, SUPERSOCKETS, SISCI, RSOCKET, SMC, SUPERSOCKETS_OF_SMC),

    /**
     * A ring in memory, here or at a peer, has no byte that overtakes others, and whether the peer
     * wants it among them is the peer's option, which is not known here.
     */
    NO_URGENT_DATA(SISCI, RSOCKET),

    /**
     * The kernel's SMC tells nobody who waits of a direction that is shut down on this side; a
     * close is told.
     */
    SHUTDOWN_LEAVES_WHO_WAITS(SMC, SUPERSOCKETS_OF_SMC),

    /**
     * A close with SO_LINGER of 0 is one like another in the kernel's SMC: its peer reads an end.
     */
    CLOSE_WITHOUT_LINGERING_IS_NO_RESET(SMC, SUPERSOCKETS_OF_SMC);

    @SuppressWarnings("ImmutableEnumChecker") // it is one of Set.of
    private final Set<Implementation> transports;

    Difference(Implementation... transports) {
        this.transports = Set.of(transports);
    }

    Set<Implementation> transports() {
        return transports;
    }
}
