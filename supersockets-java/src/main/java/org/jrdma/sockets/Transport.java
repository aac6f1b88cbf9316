package org.jrdma.sockets;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A way that streams of bytes can take to a peer. Immutable. */
public sealed interface Transport permits FamilyTransport {

    /** The name, as programs, properties and reports have it: {@code tcp}. */
    String name();

    /** Why this machine cannot use it now; empty if it can. */
    Optional<String> whyNot();

    /** The kernel's TCP, over IPv4 and IPv6. */
    static Transport tcp() {
        return FamilyTransport.TCP;
    }

    /**
     * Dolphin's SuperSockets, over IPv4: sockets of a family whose number its driver publishes in a
     * file. The system property {@code jrdma.sockets.supersockets.family} names another file.
     */
    static Transport supersockets() {
        return FamilyTransport.SUPERSOCKETS;
    }

    /** The same, with the number of the family in a file of the caller's choice. */
    static Transport supersockets(Path familyFile) {
        return FamilyTransport.supersockets(FamilyNumber.in(List.of(familyFile)));
    }

    /** The kernel's sockets over RDMA, which by themselves go over TCP where they must. */
    static Transport smc() {
        return FamilyTransport.SMC;
    }
}
