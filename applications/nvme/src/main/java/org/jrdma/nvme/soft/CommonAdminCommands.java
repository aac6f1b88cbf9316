package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.IdentifyController;
import org.jrdma.nvme.model.IdentifyFabrics;
import org.jrdma.nvme.model.IdentifyNamespace;
import org.jrdma.nvme.model.IdentifyStructureCodes;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.jspecify.annotations.Nullable;

/**
 * Executes the admin commands that controllers on PCIe and on a network have in common:
 * identification, features and log pages.
 */
final class CommonAdminCommands {

    /** The number of abort commands that may be pending. All of them are executed at once. */
    private static final int ABORT_LIMIT = 4;

    private static final int SEVERAL_CONTROLLERS = 1 << 1;
    private static final int EXTENDED_HOST_IDENTIFIERS = 1;
    private static final int EXTENDED_LOG_PAGES = 1 << 2;
    private static final int UUID_DESCRIPTOR = 3;
    private static final int UUID_BYTES = 16;
    private static final int FIRST_INVALID_LIST_ID = 0xffff_fffe;

    private static final ValueLayout.OfInt INT = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong BIG_ENDIAN_LONG =
            JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final Subsystem subsystem;
    private final int controllerId;
    private final HostDataBuffer data;
    private final Features features;
    private final LogPages logPages;
    private final AsyncEvents events;
    private final @Nullable IdentifyFabrics fabrics;

    CommonAdminCommands(
            Subsystem subsystem,
            int controllerId,
            HostDataBuffer data,
            Features features,
            LogPages logPages,
            AsyncEvents events,
            @Nullable IdentifyFabrics fabrics) {
        this.subsystem = subsystem;
        this.controllerId = controllerId;
        this.data = data;
        this.features = features;
        this.logPages = logPages;
        this.events = events;
        this.fabrics = fabrics;
    }

    /**
     * Executes a command and returns its result.
     *
     * @param hasIoQueues true if the number of queues cannot be changed any more
     */
    int execute(Command command, boolean hasIoQueues) throws CommandException {
        switch (command.opcode()) {
            case AdminOpcode.GET_LOG_PAGE -> logPages.read(command);
            case AdminOpcode.IDENTIFY -> identify(command);
            case AdminOpcode.SET_FEATURES -> {
                var result = features.set(command, hasIoQueues);
                if ((features.criticalWarning() & features.reportedWarnings()) != 0) {
                    events.add(AsyncEvent.TEMPERATURE);
                }
                return result;
            }
            case AdminOpcode.GET_FEATURES -> {
                return features.get(command);
            }
            default -> throw new CommandException(Status.INVALID_OPCODE);
        }
        return 0;
    }

    private void identify(Command command) throws CommandException {
        var structure = command.dword10() & 0xff;
        data.select(command, IdentifyController.BYTES);
        var page = data.zeroed(IdentifyController.BYTES);
        switch (structure) {
            case IdentifyStructureCodes.NAMESPACE -> identifyNamespace(command).encode(page);
            case IdentifyStructureCodes.CONTROLLER -> identifyController(page);
            case IdentifyStructureCodes.NAMESPACE_LIST -> listNamespaces(command, page);
            case IdentifyStructureCodes.NAMESPACE_DESCRIPTORS -> describeNamespace(command, page);
            default -> throw new CommandException(Status.INVALID_FIELD);
        }
        data.write(page, 0);
    }

    private void identifyController(MemorySegment page) {
        new IdentifyController(
                        Subsystem.VENDOR_ID,
                        Subsystem.VENDOR_ID,
                        subsystem.serialNumber(),
                        subsystem.modelNumber(),
                        LogPages.FIRMWARE,
                        SEVERAL_CONTROLLERS,
                        HostDataBuffer.MAX_TRANSFER_SHIFT,
                        controllerId,
                        MappedRegisters.VERSION_1_4,
                        subsystem.isDiscovery() ? 0 : IdentifyController.NAMESPACE_NOTICES,
                        EXTENDED_HOST_IDENTIFIERS,
                        0,
                        ABORT_LIMIT,
                        AsyncEvents.REQUEST_LIMIT,
                        EXTENDED_LOG_PAGES,
                        ErrorLog.ENTRIES,
                        subsystem.isDiscovery() ? 0 : Subsystem.MAX_NAMESPACES,
                        IdentifyController.DATASET_MANAGEMENT
                                | IdentifyController.WRITE_ZEROES
                                | IdentifyController.FEATURE_SELECTION
                                | IdentifyController.RESERVATIONS,
                        true,
                        subsystem.qualifiedName())
                .encode(page);
        if (fabrics != null) {
            fabrics.encode(page);
        }
    }

    private IdentifyNamespace identifyNamespace(Command command) throws CommandException {
        return namespace(command).identify();
    }

    private Namespace namespace(Command command) throws CommandException {
        var namespace = subsystem.namespace(command.namespace());
        if (namespace == null) {
            throw new CommandException(Status.INVALID_NAMESPACE);
        }
        return namespace;
    }

    /** Lists the namespaces with ids above that of the command. */
    private void listNamespaces(Command command, MemorySegment page) throws CommandException {
        CommandException.require(
                Integer.compareUnsigned(command.namespace(), FIRST_INVALID_LIST_ID) < 0,
                Status.INVALID_NAMESPACE);
        var index = 0;
        for (var namespace : subsystem.namespaces()) {
            if (Integer.compareUnsigned(namespace.id(), command.namespace()) > 0
                    && index < page.byteSize() / Integer.BYTES) {
                page.setAtIndex(INT, index++, namespace.id());
            }
        }
    }

    private void describeNamespace(Command command, MemorySegment page) throws CommandException {
        var uuid = subsystem.uuid("namespace " + namespace(command).id());
        page.set(JAVA_BYTE, 0, (byte) UUID_DESCRIPTOR);
        page.set(JAVA_BYTE, 1, (byte) UUID_BYTES);
        page.set(BIG_ENDIAN_LONG, 4, uuid.getMostSignificantBits());
        page.set(BIG_ENDIAN_LONG, 4 + Long.BYTES, uuid.getLeastSignificantBits());
    }
}
