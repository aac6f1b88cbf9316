package org.jrdma.nvme.soft;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.IdentifyController;
import org.jrdma.nvme.model.SmartLog;
import org.jrdma.nvme.model.Status;

/**
 * The features of a controller. A reset of the controller restores their default values. One thread
 * sets features; all threads can read them.
 */
final class Features {

    private static final int CURRENT = 0;
    private static final int DEFAULT = 1;
    private static final int SAVED = 2;
    private static final int CAPABILITIES = 3;

    private static final int CHANGEABLE = 1 << 2;
    private static final int NAMESPACE_SPECIFIC = 1 << 1;

    private static final int SAVE = 1 << 31;
    private static final int UNDER_TEMPERATURE = 1 << 20;
    private static final int ALL_SENSORS = 0xf << 16;
    private static final int DEFAULT_OVER_TEMPERATURE = 343;
    private static final int QUEUES_LIMIT = 0xffff;
    private static final int ALL_WARNINGS = 0xff;

    /** A value, by its feature and by the namespace, vector or threshold that it belongs to. */
    private record Key(int feature, int part) {}

    private final Subsystem subsystem;
    private final HostDataBuffer data;
    private final Map<Key, Integer> values = new ConcurrentHashMap<>();
    private final int maxIoQueues;
    private volatile int ioQueues;

    /** Volatile, because other controllers read it when they notify hosts. */
    private volatile HostIdentifier host = HostIdentifier.NONE;

    Features(Subsystem subsystem, HostDataBuffer data, int maxIoQueues) {
        this.subsystem = subsystem;
        this.data = data;
        this.maxIoQueues = maxIoQueues;
        this.ioQueues = maxIoQueues;
    }

    void reset() {
        values.clear();
        ioQueues = maxIoQueues;
        host = HostIdentifier.NONE;
    }

    HostIdentifier host() {
        return host;
    }

    /** Sets the host that a Connect command has identified. */
    void identifyHost(HostIdentifier newHost) {
        host = newHost;
    }

    /** Returns the largest id of an I/O queue. */
    int ioQueues() {
        return ioQueues;
    }

    boolean isWriteCacheEnabled() {
        return value(FeatureId.VOLATILE_WRITE_CACHE, 0) != 0;
    }

    /** Returns the health events that are reported, as bits of the critical warning. */
    int reportedWarnings() {
        return value(FeatureId.ASYNC_EVENT_CONFIGURATION, 0) & ALL_WARNINGS;
    }

    /** Returns true if the host wants a notice of each change of a namespace. */
    boolean reportsNamespaceChanges() {
        return (value(FeatureId.ASYNC_EVENT_CONFIGURATION, 0)
                        & IdentifyController.NAMESPACE_NOTICES)
                != 0;
    }

    /** Returns the current critical warning of the SMART log. */
    int criticalWarning() {
        var isBeyond =
                Statistics.TEMPERATURE_KELVIN >= value(FeatureId.TEMPERATURE_THRESHOLD, 0)
                        || Statistics.TEMPERATURE_KELVIN
                                <= value(FeatureId.TEMPERATURE_THRESHOLD, UNDER_TEMPERATURE);
        return isBeyond ? SmartLog.TEMPERATURE_WARNING : 0;
    }

    /** Returns true if the host does not want a kind of reservation notification. */
    boolean isMasked(int namespace, int notificationType) {
        return (value(FeatureId.RESERVATION_NOTIFICATION_MASK, namespace) >>> notificationType & 1)
                != 0;
    }

    private int value(int feature, int part) {
        return values.getOrDefault(new Key(feature, part), defaultValue(feature, part));
    }

    private static int defaultValue(int feature, int part) {
        return switch (feature) {
            case FeatureId.VOLATILE_WRITE_CACHE -> 1;
            case FeatureId.TEMPERATURE_THRESHOLD -> part == 0 ? DEFAULT_OVER_TEMPERATURE : 0;
            case FeatureId.INTERRUPT_VECTOR -> part;
            default -> 0;
        };
    }

    /** Returns the bits that a driver can set in a feature with a value of 32 bits. */
    private static int settableBits(int feature) throws CommandException {
        return switch (feature) {
            case FeatureId.ARBITRATION -> 0xffff_ff07;
            case FeatureId.POWER_MANAGEMENT -> 0xe0; // the only power state is 0
            case FeatureId.TEMPERATURE_THRESHOLD,
                    FeatureId.INTERRUPT_COALESCING,
                    FeatureId.ERROR_RECOVERY ->
                    0xffff;
            case FeatureId.VOLATILE_WRITE_CACHE, FeatureId.WRITE_ATOMICITY -> 1;
            case FeatureId.INTERRUPT_VECTOR -> 0x1_ffff;
            case FeatureId.ASYNC_EVENT_CONFIGURATION ->
                    ALL_WARNINGS | IdentifyController.NAMESPACE_NOTICES;
            case FeatureId.RESERVATION_NOTIFICATION_MASK -> 0xe;
            case FeatureId.RESERVATION_PERSISTENCE -> 0;
            default -> throw new CommandException(Status.INVALID_FIELD);
        };
    }

    private static boolean isNamespaceSpecific(int feature) {
        return feature == FeatureId.ERROR_RECOVERY
                || feature == FeatureId.RESERVATION_NOTIFICATION_MASK
                || feature == FeatureId.RESERVATION_PERSISTENCE;
    }

    /**
     * Sets a feature.
     *
     * @param hasIoQueues true if the number of queues cannot be changed any more
     * @return the result of the command
     */
    int set(Command command, boolean hasIoQueues) throws CommandException {
        var feature = command.dword10() & 0xff;
        CommandException.require((command.dword10() & SAVE) == 0, Status.FEATURE_NOT_SAVEABLE);
        if (!isNamespaceSpecific(feature)) {
            CommandException.require(
                    command.namespace() == 0 || command.namespace() == Command.ALL_NAMESPACES,
                    Status.FEATURE_NOT_NAMESPACE_SPECIFIC);
        }
        switch (feature) {
            case FeatureId.NUMBER_OF_QUEUES -> {
                return setQueues(command.dword11(), hasIoQueues);
            }
            case FeatureId.HOST_IDENTIFIER -> setHost(command);
            default -> setValue(feature, command);
        }
        return 0;
    }

    private int setQueues(int requested, boolean hasIoQueues) throws CommandException {
        CommandException.require(!hasIoQueues, Status.COMMAND_SEQUENCE_ERROR);
        var submissions = requested & 0xffff;
        var completions = requested >>> 16;
        CommandException.require(
                submissions != QUEUES_LIMIT && completions != QUEUES_LIMIT, Status.INVALID_FIELD);
        ioQueues = Math.min(Math.max(submissions, completions) + 1, maxIoQueues);
        return queues(ioQueues);
    }

    private static int queues(int count) {
        return (count - 1) << 16 | (count - 1);
    }

    private void setHost(Command command) throws CommandException {
        var isExtended = (command.dword11() & HostIdentifier.EXTENDED) != 0;
        var bytes = isExtended ? 16 : 8;
        data.select(command, bytes);
        var page = data.zeroed(16);
        data.read(page, 0);
        var newHost = HostIdentifier.decode(page, isExtended);
        CommandException.require(
                host.isNone() || host.equals(newHost), Status.COMMAND_SEQUENCE_ERROR);
        CommandException.require(
                newHost.isNone() || !subsystem.hasHosts(!isExtended),
                Status.HOST_IDENTIFIER_FORMAT);
        host = newHost;
    }

    private void setValue(int feature, Command command) throws CommandException {
        var settable = settableBits(feature);
        var selector = selector(feature, command.dword11());
        var value = command.dword11();
        if (feature == FeatureId.TEMPERATURE_THRESHOLD) {
            value &= 0xffff;
        }
        CommandException.require((value & ~settable) == 0, Status.INVALID_FIELD);
        if (!isNamespaceSpecific(feature)) {
            values.put(new Key(feature, selector), value);
        } else if (command.namespace() == Command.ALL_NAMESPACES) {
            for (var namespace : subsystem.namespaces()) {
                values.put(new Key(feature, namespace.id()), value);
            }
        } else {
            values.put(new Key(feature, requireNamespace(command)), value);
        }
    }

    /** Returns the part of a feature that dword 11 selects. */
    private static int selector(int feature, int dword11) throws CommandException {
        return switch (feature) {
            case FeatureId.INTERRUPT_VECTOR -> {
                CommandException.require(
                        (dword11 & 0xffff) < QueueSet.VECTORS, Status.INVALID_FIELD);
                yield dword11 & 0xffff;
            }
            case FeatureId.TEMPERATURE_THRESHOLD -> {
                var sensor = dword11 & ALL_SENSORS;
                var threshold = dword11 & 3 << 20;
                CommandException.require(
                        (sensor == 0 || sensor == ALL_SENSORS)
                                && (threshold == 0 || threshold == UNDER_TEMPERATURE)
                                && dword11 >>> 22 == 0,
                        Status.INVALID_FIELD);
                yield threshold;
            }
            default -> 0;
        };
    }

    private int requireNamespace(Command command) throws CommandException {
        CommandException.require(
                subsystem.namespace(command.namespace()) != null, Status.INVALID_NAMESPACE);
        return command.namespace();
    }

    /** Reads a feature, and returns the result of the command. */
    int get(Command command) throws CommandException {
        var feature = command.dword10() & 0xff;
        var selection = command.dword10() >>> 8 & 7;
        CommandException.require(selection <= CAPABILITIES, Status.INVALID_FIELD);
        if (feature == FeatureId.NUMBER_OF_QUEUES) {
            return switch (selection) {
                case CURRENT -> queues(ioQueues);
                case CAPABILITIES -> CHANGEABLE;
                default -> queues(maxIoQueues);
            };
        }
        if (feature == FeatureId.HOST_IDENTIFIER) {
            return getHost(command, selection);
        }
        var _ = settableBits(feature); // rejects unknown features
        var part =
                isNamespaceSpecific(feature)
                        ? requireNamespace(command)
                        : selector(feature, command.dword11());
        return switch (selection) {
            case CURRENT -> value(feature, part);
            case DEFAULT, SAVED -> defaultValue(feature, part);
            default -> capabilities(feature);
        };
    }

    private static int capabilities(int feature) {
        return (feature == FeatureId.RESERVATION_PERSISTENCE ? 0 : CHANGEABLE)
                | (isNamespaceSpecific(feature) ? NAMESPACE_SPECIFIC : 0);
    }

    private int getHost(Command command, int selection) throws CommandException {
        if (selection == CAPABILITIES) {
            return CHANGEABLE;
        }
        var isExtended = (command.dword11() & HostIdentifier.EXTENDED) != 0;
        var shown = selection == CURRENT ? host : HostIdentifier.NONE;
        CommandException.require(isExtended || !shown.isExtended(), Status.HOST_IDENTIFIER_FORMAT);
        var bytes = isExtended ? 16 : 8;
        data.select(command, bytes);
        var page = data.zeroed(bytes);
        shown.encode(page);
        data.write(page, 0);
        return 0;
    }
}
