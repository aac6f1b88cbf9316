package org.jrdma.sockets;

import java.nio.file.Path;
import java.util.List;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.sisci.SisciHosts;
import org.jrdma.sockets.transport.KernelTransport;
import org.jrdma.sockets.transport.RsocketTransport;
import org.jrdma.sockets.transport.SisciTransport;
import org.jrdma.sockets.transport.SuperSocketsFamilyNumber;

/** Returns the transports that streams and listeners can use. */
public final class Transports {

    private Transports() {}

    /** Returns TCP over the kernel's sockets, for IPv4 and IPv6. */
    public static Transport tcp() {
        return KernelTransport.TCP;
    }

    /**
     * Returns Dolphin's SuperSockets over IPv4: kernel sockets of an address family whose number
     * the driver publishes in a file. The system property {@code jrdma.sockets.supersockets.family}
     * names another file.
     */
    public static Transport supersockets() {
        return KernelTransport.SUPERSOCKETS;
    }

    /**
     * Returns Dolphin's SuperSockets, with the number of the address family in {@code familyFile}.
     */
    public static Transport supersockets(Path familyFile) {
        return KernelTransport.supersockets(SuperSocketsFamilyNumber.in(List.of(familyFile)));
    }

    /**
     * Returns streams over SISCI shared memory between the nodes of a table. The table has the
     * format of {@code dishosts.conf}, and is by default /etc/dis/dishosts.conf, which may be
     * missing. An address of this machine that the table does not contain belongs to this node.
     *
     * <p>The system property {@code jrdma.sockets.sisci.hosts} names another table; if that file is
     * missing or malformed, the transport cannot be used. {@code jrdma.fabric} selects libsisci.
     * {@code jrdma.sockets.sisci.spin} is the maximum number of microseconds for which a waiting
     * thread spins before it sleeps (by default 100).
     */
    public static Transport sisci() {
        return SisciTransport.CONFIGURED;
    }

    /**
     * Returns streams over SISCI shared memory, with the given library and the given table of
     * hosts.
     */
    public static Transport sisci(Sisci library, Path hostsFile) {
        return new SisciTransport(() -> library, () -> SisciHosts.read(hostsFile));
    }

    /**
     * Returns the sockets of librdmacm (rsockets), over RoCE and InfiniBand. They reach a peer if
     * the kernel's route to it uses the network address of an RDMA device.
     *
     * <p>The system property {@code jrdma.sockets.rsocket.spin} is the maximum number of
     * microseconds for which a waiting thread spins before it sleeps (by default 100). {@code
     * jrdma.sockets.rsocket.connections} is the capacity of the connection table of a librdmacm
     * before version 53 (by default 256). The capacity limits the number of connections, and a
     * larger table takes longer to initialize.
     */
    public static Transport rsocket() {
        return RsocketTransport.CONFIGURED;
    }

    /**
     * Returns the kernel's SMC sockets over RDMA. The kernel uses TCP for a connection for which it
     * cannot use SMC, for example because the peer does not support it.
     */
    public static Transport smc() {
        return KernelTransport.SMC;
    }
}
