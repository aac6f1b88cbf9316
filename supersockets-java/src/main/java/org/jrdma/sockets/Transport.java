package org.jrdma.sockets;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.sisci.SisciHosts;

/** A way that streams of bytes can take to a peer. Immutable. */
public sealed interface Transport permits FamilyTransport, ShortCutTransport {

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

    /**
     * Memory that is shared by SISCI, between nodes that a table in the manner of {@code
     * dishosts.conf} names; the addresses of this machine are its own node's, if they stand in no
     * line. The system property {@code jrdma.sockets.sisci.hosts} names another table, which must
     * be there and make sense: else that is why this cannot be used. {@code jrdma.fabric} says
     * which libsisci it is, and {@code jrdma.sockets.sisci.spin} for how many microseconds who
     * waits spins before it sleeps, 30 unless said otherwise.
     */
    static Transport sisci() {
        return SisciTransport.CONFIGURED;
    }

    /** The same by a libsisci and a table of the caller's choice. */
    static Transport sisci(Sisci library, Path hostsFile) {
        return new SisciTransport(() -> library, () -> SisciHosts.read(hostsFile));
    }

    /**
     * The sockets of librdmacm, over RoCE and InfiniBand, to addresses that lead there by an
     * address of an RDMA device. The system property {@code jrdma.sockets.rsocket.spin} says for
     * how many microseconds who waits spins before it sleeps, 30 unless said otherwise; {@code
     * jrdma.sockets.rsocket.connections} for how many connections there is to be room with a
     * librdmacm before version 53, 256 unless said otherwise, each of which costs time at the
     * start.
     */
    static Transport rsocket() {
        return RsocketTransport.CONFIGURED;
    }

    /** The kernel's sockets over RDMA, which by themselves go over TCP where they must. */
    static Transport smc() {
        return FamilyTransport.SMC;
    }
}
