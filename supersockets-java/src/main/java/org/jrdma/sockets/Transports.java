package org.jrdma.sockets;

import java.nio.file.Path;
import java.util.List;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.sisci.SisciHosts;
import org.jrdma.sockets.transport.FamilyNumber;
import org.jrdma.sockets.transport.FamilyTransport;
import org.jrdma.sockets.transport.RsocketTransport;
import org.jrdma.sockets.transport.SisciTransport;

/** The transports that a stream can take. */
public final class Transports {

    private Transports() {}

    /** The kernel's TCP, over IPv4 and IPv6. */
    public static Transport tcp() {
        return FamilyTransport.TCP;
    }

    /**
     * Dolphin's SuperSockets, over IPv4: sockets of an address family whose number the driver
     * publishes in a file. The system property {@code jrdma.sockets.supersockets.family} names
     * another file.
     */
    public static Transport supersockets() {
        return FamilyTransport.SUPERSOCKETS;
    }

    /** Dolphin's SuperSockets, with the number of the address family in {@code familyFile}. */
    public static Transport supersockets(Path familyFile) {
        return FamilyTransport.supersockets(FamilyNumber.in(List.of(familyFile)));
    }

    /**
     * Memory shared by SISCI, between the nodes of a table in the format of {@code dishosts.conf}.
     * An address of this machine that the table does not contain belongs to this node. The system
     * property {@code jrdma.sockets.sisci.hosts} names another table; if that file is missing or
     * malformed, the transport cannot be used. {@code jrdma.fabric} selects libsisci, and {@code
     * jrdma.sockets.sisci.spin} is the number of microseconds for which a waiting thread spins
     * before it sleeps (by default 30).
     */
    public static Transport sisci() {
        return SisciTransport.CONFIGURED;
    }

    /** Memory shared by SISCI, with this library and this table of hosts. */
    public static Transport sisci(Sisci library, Path hostsFile) {
        return new SisciTransport(() -> library, () -> SisciHosts.read(hostsFile));
    }

    /**
     * The sockets of librdmacm, over RoCE and InfiniBand. They reach peers whose route starts at an
     * address of an RDMA device.
     *
     * <p>The system property {@code jrdma.sockets.rsocket.spin} is the number of microseconds for
     * which a waiting thread spins before it sleeps (by default 30). {@code
     * jrdma.sockets.rsocket.connections} is the capacity of librdmacm's connection table before
     * version 53 (by default 256). A larger table takes longer to initialize.
     */
    public static Transport rsocket() {
        return RsocketTransport.CONFIGURED;
    }

    /** The kernel's SMC sockets over RDMA, which fall back to TCP if the peer cannot use SMC. */
    public static Transport smc() {
        return FamilyTransport.SMC;
    }
}
