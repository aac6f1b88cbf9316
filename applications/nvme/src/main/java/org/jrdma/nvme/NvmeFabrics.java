package org.jrdma.nvme;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.DiscoveryLog;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.QualifiedName;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;

/**
 * Discovers and opens drives on a network, by NVMe over RDMA. The targets are those of the Linux
 * kernel, of storage systems, and {@link org.jrdma.nvme.soft.NvmeTarget}.
 */
public final class NvmeFabrics {

    private static final int MAX_READS = 5;

    private NvmeFabrics() {}

    /**
     * Reads which subsystems a target offers to this host, with the devices of {@link
     * Verbs#configured()}. Does not follow referrals, which are entries of the result.
     *
     * @throws FabricException if the target cannot be reached, refuses the host, or does not
     *     respond in time
     */
    public static DiscoveryLog discover(InetSocketAddress target, FabricsOptions options)
            throws FabricException {
        return discover(Verbs.configured(), ConnectionManager.configured(), target, options);
    }

    /**
     * Reads which subsystems a target offers to this host, with the devices of a library. Does not
     * follow referrals, which are entries of the result.
     *
     * @param manager the connection manager of the same library
     * @throws FabricException if the target cannot be reached, refuses the host, or does not
     *     respond in time
     */
    public static DiscoveryLog discover(
            Verbs verbs,
            ConnectionManager manager,
            InetSocketAddress target,
            FabricsOptions options)
            throws FabricException {
        var library = new RdmaConnector(verbs, manager);
        var name = "the discovery subsystem at " + AddressText.of(target);
        try (var device = library.open(target, options.connectTimeout());
                var domain = device.newProtectionDomain();
                var admin = new RdmaAdminQueue(library, domain, target, name, options)) {
            var deadline = Deadline.after(options.drive().adminTimeout());
            var session =
                    RdmaControllerSession.start(
                            admin, QualifiedName.DISCOVERY, options, 0, name, deadline);
            return readLog(session.admin(), deadline);
        } catch (InterruptedIOException _) {
            throw new NvmeException("Interrupted while connecting to " + name);
        }
    }

    /**
     * Reads which subsystems a target, and the targets to which it refers, offer to this host, with
     * the devices of {@link Verbs#configured()}. Follows up to four referrals in a row, and asks up
     * to 32 targets. Asks no address twice. Blocks for up to the timeouts of the options for each
     * of the targets.
     *
     * @throws FabricException if the first target cannot be reached, refuses the host, or does not
     *     respond in time. The result contains the failures of the other targets
     */
    public static Discovery discoverAll(InetSocketAddress target, FabricsOptions options)
            throws FabricException {
        return discoverAll(Verbs.configured(), ConnectionManager.configured(), target, options);
    }

    /**
     * As {@link #discoverAll(InetSocketAddress, FabricsOptions)}, with the devices of a library.
     *
     * @param manager the connection manager of the same library
     * @throws FabricException if the first target cannot be reached, refuses the host, or does not
     *     respond in time. The result contains the failures of the other targets
     */
    public static Discovery discoverAll(
            Verbs verbs,
            ConnectionManager manager,
            InetSocketAddress target,
            FabricsOptions options)
            throws FabricException {
        return ReferralFollower.discover(target, each -> discover(verbs, manager, each, options));
    }

    /** Reads the log page until it does not change during a read. */
    private static DiscoveryLog readLog(RdmaAdminQueue admin, Deadline deadline)
            throws FabricException {
        for (var i = 0; i < MAX_READS; i++) {
            var header = MemorySegment.ofArray(new byte[DiscoveryLog.HEADER_BYTES]);
            readLog(admin, header, deadline);
            var bytes = DiscoveryLog.bytes(DiscoveryLog.entryCount(header));
            var page = MemorySegment.ofArray(new byte[bytes]);
            readLog(admin, page, deadline);
            readLog(admin, header, deadline);
            var log = DiscoveryLog.decode(page);
            if (log.generation() == DiscoveryLog.decode(header).generation()) {
                return log;
            }
        }
        throw new NvmeException(
                "The discovery log has changed during each of %d reads".formatted(MAX_READS));
    }

    private static void readLog(RdmaAdminQueue admin, MemorySegment page, Deadline deadline)
            throws FabricException {
        for (var offset = 0L; offset < page.byteSize(); offset += RdmaAdminQueue.DATA_BYTES) {
            var part =
                    page.asSlice(
                            offset, Math.min(RdmaAdminQueue.DATA_BYTES, page.byteSize() - offset));
            var bytes = (int) part.byteSize();
            var command =
                    Command.admin(AdminOpcode.GET_LOG_PAGE)
                            .withDwords(
                                    LogPage.DISCOVERY | (bytes / Integer.BYTES - 1) << 16,
                                    0,
                                    (int) offset);
            var _ = admin.read("discovery log page", command, bytes, deadline, part::copyFrom);
        }
    }

    /**
     * Connects to a subsystem of a target, with the devices of {@link Verbs#configured()}. The
     * queues of the drive connect again if their connections are lost, for up to {@link
     * FabricsOptions#lossTimeout()}.
     *
     * @param subsystemName the qualified name of the subsystem
     * @throws FabricException if the target cannot be reached, refuses the host, or does not
     *     respond in time
     */
    public static NvmeDrive connect(
            InetSocketAddress target, String subsystemName, FabricsOptions options)
            throws FabricException {
        return connect(
                Verbs.configured(), ConnectionManager.configured(), target, subsystemName, options);
    }

    /**
     * Connects to a subsystem of a target, with the devices of a library.
     *
     * @param manager the connection manager of the same library
     * @param subsystemName the qualified name of the subsystem
     * @throws FabricException if the target cannot be reached, refuses the host, or does not
     *     respond in time
     */
    public static NvmeDrive connect(
            Verbs verbs,
            ConnectionManager manager,
            InetSocketAddress target,
            String subsystemName,
            FabricsOptions options)
            throws FabricException {
        return Nvme.start(
                new RdmaController(
                        new RdmaConnector(verbs, manager),
                        target,
                        QualifiedName.requireValid(subsystemName),
                        options));
    }
}
