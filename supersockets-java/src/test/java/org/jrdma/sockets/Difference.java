package org.jrdma.sockets;

import static org.jrdma.sockets.Implementation.RSOCKET;
import static org.jrdma.sockets.Implementation.SISCI;
import static org.jrdma.sockets.Implementation.SMC;
import static org.jrdma.sockets.Implementation.SUPERSOCKETS;
import static org.jrdma.sockets.Implementation.SUPERSOCKETS_OVER_SMC;
import static org.jrdma.sockets.Implementation.TCP;

import java.util.Set;

/**
 * The documented differences between a transport and the channels of the JDK. The reasons are
 * published in {@code docs/reference/sockets-differences.md}. Tests of a difference accept the
 * behavior of the transport. All other tests require the behavior of the JDK.
 */
enum Difference {
    CLOSED_LISTENER_RELEASES_ITS_PORT_IMMEDIATELY(
            "The JDK keeps the descriptor of a closed channel, and with it a listener's port, until its selector selects again. The channels of this SDK release both immediately.",
            TCP,
            SUPERSOCKETS,
            SISCI,
            RSOCKET,
            SMC,
            SUPERSOCKETS_OVER_SMC),

    LISTENS_ONLY_ON_IPV4(
            "SuperSockets support only IPv4. A listener that is opened without a protocol family accepts only IPv4 connections.",
            SUPERSOCKETS,
            SUPERSOCKETS_OVER_SMC),

    NO_PEER_CREDENTIALS(
            "The option SO_PEERCRED, the credentials of a Unix domain peer, is not supported.",
            TCP,
            SUPERSOCKETS,
            SISCI,
            RSOCKET,
            SMC,
            SUPERSOCKETS_OVER_SMC),

    NO_URGENT_DATA(
            "Urgent data is rejected. The ring buffers of a stream have no byte that overtakes others, and this end does not know whether the peer wants urgent data inline.",
            SISCI,
            RSOCKET),

    END_TIMES_OUT_AFTER_TEN_SECONDS(
            "The last message of a stream needs free buffer space at the peer, and only this process keeps it until then. A peer that receives nothing for ten seconds after the close gets all bytes, and then a reset instead of the end.",
            RSOCKET),

    SHUTDOWN_DOES_NOT_WAKE_WAITING_THREADS(
            "The kernel's SMC does not wake up threads that wait for a direction that this end shuts down. A close wakes them up.",
            SMC,
            SUPERSOCKETS_OVER_SMC),

    CLOSE_WITHOUT_LINGERING_IS_NO_RESET(
            "In the kernel's SMC, a close with SO_LINGER of 0 is a normal close: the peer reads the end of the stream.",
            SMC,
            SUPERSOCKETS_OVER_SMC),

    INTERRUPT_CLOSES_A_FACTORYS_SOCKET(
            "A socket of a factory has a channel, so an interrupt closes it on platform threads too. An interrupt closes a socket of the JDK's factories only on virtual threads.",
            TCP,
            SUPERSOCKETS,
            SISCI,
            RSOCKET,
            SMC,
            SUPERSOCKETS_OVER_SMC);

    private final String reason;

    @SuppressWarnings("ImmutableEnumChecker") // Set.of returns an immutable set.
    private final Set<Implementation> transports;

    Difference(String reason, Implementation... transports) {
        this.reason = reason;
        this.transports = Set.of(transports);
    }

    /** Returns the description of the difference and its reason for users. */
    String reason() {
        return reason;
    }

    Set<Implementation> transports() {
        return transports;
    }
}
