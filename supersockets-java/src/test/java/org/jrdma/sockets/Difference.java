package org.jrdma.sockets;

import static org.jrdma.sockets.Implementation.RSOCKET;
import static org.jrdma.sockets.Implementation.SISCI;
import static org.jrdma.sockets.Implementation.SMC;
import static org.jrdma.sockets.Implementation.SUPERSOCKETS;
import static org.jrdma.sockets.Implementation.SUPERSOCKETS_OF_SMC;
import static org.jrdma.sockets.Implementation.TCP;

import java.util.Set;

/**
 * Where a transport may differ from the JDK's channels, and why, as docs/sockets-differences.md
 * tells users. The tests of the points named here ask for the one answer or for the other;
 * everywhere else there is one answer.
 */
enum Difference {
    CLOSED_LISTENER_FREES_ITS_PORT_AT_ONCE(
            "The JDK keeps the descriptor of a closed channel until its selector selects again, and a listener's port with it; these channels end at once.",
            TCP,
            SUPERSOCKETS,
            SISCI,
            RSOCKET,
            SMC,
            SUPERSOCKETS_OF_SMC),

    LISTENS_ON_IPV4_ALONE(
            "SuperSockets are for IPv4; a listener that is opened without a family hears that alone.",
            SUPERSOCKETS,
            SUPERSOCKETS_OF_SMC),

    NO_PEER_CREDENTIALS(
            "The credentials of a peer within this machine, SO_PEERCRED, are not offered.",
            TCP,
            SUPERSOCKETS,
            SISCI,
            RSOCKET,
            SMC,
            SUPERSOCKETS_OF_SMC),

    NO_URGENT_DATA(
            "Urgent data are refused. A ring in memory, here or at a peer, has no byte that overtakes others, and whether the peer wants it among them is the peer's option, which is not known here.",
            SISCI,
            RSOCKET),

    END_WAITS_TEN_SECONDS_FOR_ROOM(
            "The last word of a stream needs room at the peer, as bytes do, and this process is all that keeps it until there is some. Who receives nothing for ten seconds after the close gets all bytes, and then a reset instead of the end.",
            RSOCKET),

    SHUTDOWN_LEAVES_WHO_WAITS(
            "The kernel's SMC tells nobody who waits of a direction that is shut down on this side; a close is told.",
            SMC,
            SUPERSOCKETS_OF_SMC),

    CLOSE_WITHOUT_LINGERING_IS_NO_RESET(
            "A close with SO_LINGER of 0 is one like another in the kernel's SMC: its peer reads an end.",
            SMC,
            SUPERSOCKETS_OF_SMC),

    INTERRUPT_CLOSES_A_FACTORYS_SOCKET(
            "A socket of a factory has a channel, and so an interrupt closes it on a thread of the platform too; those of the JDK's factories heed one on virtual threads alone.",
            TCP,
            SUPERSOCKETS,
            SISCI,
            RSOCKET,
            SMC,
            SUPERSOCKETS_OF_SMC);

    private final String reason;

    @SuppressWarnings("ImmutableEnumChecker") // it is one of Set.of
    private final Set<Implementation> transports;

    Difference(String reason, Implementation... transports) {
        this.reason = reason;
        this.transports = Set.of(transports);
    }

    /** What differs, and why, for users. */
    String reason() {
        return reason;
    }

    Set<Implementation> transports() {
        return transports;
    }
}
