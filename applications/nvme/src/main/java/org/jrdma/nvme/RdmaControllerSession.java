package org.jrdma.nvme;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Capabilities;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.IdentifyController;
import org.jrdma.nvme.model.IdentifyFabrics;
import org.jrdma.nvme.model.IdentifyStructureCodes;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.MappedRegisters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session with a controller on a network, from its connection to its loss.
 *
 * @param admin the admin queue
 * @param controllerId the id of the controller
 * @param capabilities the capabilities of the controller
 * @param identity the description of the controller
 * @param attributes the attributes of a controller on a network
 * @param ioQueues the number of I/O queues that the controller has granted
 */
record RdmaControllerSession(
        RdmaAdminQueue admin,
        int controllerId,
        Capabilities capabilities,
        IdentifyController identity,
        IdentifyFabrics attributes,
        int ioQueues) {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaControllerSession.class);
    private static final int KEYED = 1 << 2;
    private static final int DATA_OFFSET = 1 << 20;
    private static final int MAX_IN_CAPSULE = 1 << 14;
    private static final long PAUSE_NANOS = 1_000_000;

    /**
     * Enables the controller of a new connection.
     *
     * @param queues the number of I/O queues to request; 0 for a discovery controller
     * @param name the name of the controller for messages
     */
    static RdmaControllerSession start(
            RdmaAdminQueue admin,
            String subsystemName,
            FabricsOptions options,
            int queues,
            String name,
            Deadline deadline)
            throws FabricException {
        var keepAlive = queues == 0 ? 0 : (int) options.keepAlive().toMillis();
        var id = admin.connect(subsystemName, options.host(), keepAlive, deadline);
        var capabilities =
                Capabilities.decode(
                        admin.property(
                                "the capabilities", MappedRegisters.CAPABILITIES, true, deadline));
        enable(admin, name, deadline);
        record Description(IdentifyController identity, IdentifyFabrics attributes) {}
        var description =
                admin.read(
                        "identification of the controller",
                        Command.admin(AdminOpcode.IDENTIFY)
                                .withDwords(IdentifyStructureCodes.CONTROLLER, 0, 0),
                        IdentifyController.BYTES,
                        deadline,
                        data ->
                                new Description(
                                        IdentifyController.decode(data),
                                        IdentifyFabrics.decode(data)));
        var attributes = description.attributes();
        if (queues > 0
                && ((attributes.sglSupport() & KEYED) == 0
                        || attributes.commandCapsuleBytes() < Command.BYTES)) {
            throw new NvmeException(
                    "%s is not supported: the driver needs keyed data descriptors and capsules of %d bytes, but the controller states %s"
                            .formatted(name, Command.BYTES, attributes));
        }
        var session =
                new RdmaControllerSession(
                        admin,
                        id,
                        capabilities,
                        description.identity(),
                        attributes,
                        queues == 0 ? 0 : requestQueues(admin, queues, deadline));
        if ((description.identity().asyncEvents() & IdentifyController.NAMESPACE_NOTICES) != 0) {
            session.requestNotices(deadline);
        }
        return session;
    }

    /** Asks the controller to report changes of namespaces. */
    private void requestNotices(Deadline deadline) throws FabricException {
        try {
            var _ =
                    admin.execute(
                            "request for notices of namespaces",
                            Command.admin(AdminOpcode.SET_FEATURES)
                                    .withDwords(
                                            FeatureId.ASYNC_EVENT_CONFIGURATION,
                                            IdentifyController.NAMESPACE_NOTICES,
                                            0),
                            deadline);
        } catch (NvmeException e) {
            if (e.status().isEmpty()) {
                throw e;
            }
            LOG.debug("The namespaces are not watched: {}", e.getMessage());
            return;
        }
        admin.requestEvent(deadline);
    }

    /** Reads a page of data that describes the controller. */
    <T> T read(
            AdminPageKind page,
            int namespace,
            Deadline deadline,
            Function<MemorySegment, T> decoder)
            throws FabricException {
        return admin.read(
                page.description(namespace),
                page.command(namespace),
                Configuration.PAGE_BYTES,
                deadline,
                decoder);
    }

    /** Makes the controller report later changes of namespaces, which it does not do before. */
    void acknowledgeNotice(Deadline deadline) throws FabricException {
        var dwords = Configuration.PAGE_BYTES / Integer.BYTES - 1;
        var _ =
                admin.read(
                        "log page of changed namespaces",
                        Command.admin(AdminOpcode.GET_LOG_PAGE)
                                .withNamespace(Command.ALL_NAMESPACES)
                                .withDwords(LogPage.CHANGED_NAMESPACES | dwords << 16, 0, 0),
                        Configuration.PAGE_BYTES,
                        deadline,
                        MemorySegment::byteSize);
    }

    private static void enable(RdmaAdminQueue admin, String name, Deadline deadline)
            throws FabricException {
        admin.setProperty(
                "the configuration",
                MappedRegisters.CONFIGURATION,
                Configuration.ENABLED.encode(),
                deadline);
        var status = readStatus(admin, deadline);
        while ((status & MappedRegisters.READY) == 0) {
            if ((status & MappedRegisters.FATAL) != 0) {
                throw new NvmeException(
                        "%s reports a fatal error (CSTS 0x%x)".formatted(name, status));
            }
            if (deadline.hasPassed()) {
                throw deadline.missed("%s did not become ready".formatted(name));
            }
            LockSupport.parkNanos(PAUSE_NANOS);
            status = readStatus(admin, deadline);
        }
    }

    private static int readStatus(RdmaAdminQueue admin, Deadline deadline) throws FabricException {
        return (int) admin.property("the status", MappedRegisters.STATUS, false, deadline);
    }

    private static int requestQueues(RdmaAdminQueue admin, int queues, Deadline deadline)
            throws FabricException {
        var requested = queues - 1;
        var result =
                (int)
                        admin.execute(
                                "request of %d queues".formatted(queues),
                                Command.admin(AdminOpcode.SET_FEATURES)
                                        .withDwords(
                                                FeatureId.NUMBER_OF_QUEUES,
                                                requested << 16 | requested,
                                                0),
                                deadline);
        return Math.min(queues, Math.min(result & 0xffff, result >>> 16) + 1);
    }

    /** Returns the largest data that a command can have in its capsule. */
    int inCapsuleBytes() {
        return (attributes.sglSupport() & DATA_OFFSET) != 0 && attributes.dataOffset() == 0
                ? Math.min(attributes.commandCapsuleBytes() - Command.BYTES, MAX_IN_CAPSULE)
                : 0;
    }

    /** Asks the controller to make all data durable. */
    void shutDown(Deadline deadline) throws FabricException {
        admin.setProperty(
                "the configuration",
                MappedRegisters.CONFIGURATION,
                Configuration.ENABLED.shutdown(Configuration.NORMAL_SHUTDOWN).encode(),
                deadline);
    }
}
