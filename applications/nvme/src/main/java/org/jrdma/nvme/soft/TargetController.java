package org.jrdma.nvme.soft;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrdma.nvme.model.Capabilities;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.IdentifyFabrics;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;

/**
 * A controller of a target, which exists from the Connect command of its admin queue until this
 * queue ends. The thread of the admin queue executes all methods except those that are
 * synchronized.
 */
final class TargetController {

    private static final int TIMEOUT_MILLIS = 2000;
    private static final int KEEP_ALIVE_GRANULARITY = 10;
    private static final int RESPONSE_BYTES = 16;

    /** The limit for hosts that look up subsystems without a keep-alive timeout. */
    private static final int DISCOVERY_KEEP_ALIVE_MILLIS = 120_000;

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** A queue whose connection the controller can end. */
    @FunctionalInterface
    interface Closeable {
        /** Ends the queue. Does not wait. */
        void close();
    }

    private final Subsystem subsystem;
    private final ConnectData host;
    private final ControllerCore core;
    private final long capabilities;
    private final long keepAliveNanos;
    private final Map<Integer, Closeable> ioQueues = new HashMap<>();
    private int configuration;
    private volatile int status;
    private boolean ended;
    private volatile long lastSignOfLife = System.nanoTime();

    TargetController(
            Subsystem subsystem,
            ConnectData host,
            int keepAliveMillis,
            HostDataBuffer adminData,
            TargetOptions options) {
        var isDiscovery = subsystem.isDiscovery();
        this.subsystem = subsystem;
        this.host = host;
        this.keepAliveNanos =
                (isDiscovery && keepAliveMillis == 0
                                ? DISCOVERY_KEEP_ALIVE_MILLIS
                                : Integer.toUnsignedLong(keepAliveMillis))
                        * NANOS_PER_MILLI;
        this.capabilities =
                new Capabilities(
                                isDiscovery ? ConnectPrivateData.ADMIN_ENTRIES : options.entries(),
                                true,
                                TIMEOUT_MILLIS,
                                Integer.BYTES,
                                true,
                                Configuration.PAGE_SHIFT,
                                Configuration.PAGE_SHIFT)
                        .encode();
        this.core =
                new ControllerCore(
                        subsystem,
                        subsystem.takeControllerId(),
                        adminData,
                        options.ioQueues(),
                        attributes(options, isDiscovery));
        identifyHost();
    }

    private static IdentifyFabrics attributes(TargetOptions options, boolean isDiscovery) {
        return new IdentifyFabrics(
                isDiscovery ? IdentifyFabrics.DISCOVERY_CONTROLLER : IdentifyFabrics.IO_CONTROLLER,
                KEEP_ALIVE_GRANULARITY,
                options.entries(),
                IdentifyFabrics.KEYED_AND_IN_CAPSULE,
                Command.BYTES + options.inCapsuleBytes(),
                RESPONSE_BYTES,
                0,
                1);
    }

    /**
     * Sets the identifier of the host for reservations. A host has none if other hosts of the
     * subsystem use identifiers of 64 bits, because both formats cannot be mixed.
     */
    private void identifyHost() {
        if (!subsystem.hasHosts(false)) {
            core.features().identifyHost(host.host());
        }
    }

    int id() {
        return core.id();
    }

    ControllerCore core() {
        return core;
    }

    boolean isReady() {
        return status == MappedRegisters.READY;
    }

    /** Records that the host is alive. */
    void touch() {
        lastSignOfLife = System.nanoTime();
    }

    /** Returns true if the host has given no sign of life for the keep-alive timeout. */
    boolean isExpired() {
        return keepAliveNanos != 0 && System.nanoTime() - lastSignOfLife > keepAliveNanos;
    }

    /** Reads a property. */
    long property(Command command) throws CommandException {
        var value =
                switch (FabricsCommand.propertyOffset(command)) {
                    case MappedRegisters.CAPABILITIES -> capabilities;
                    case MappedRegisters.VERSION -> MappedRegisters.VERSION_1_4;
                    case MappedRegisters.CONFIGURATION -> configuration;
                    case MappedRegisters.STATUS -> status;
                    default -> throw new CommandException(Status.INVALID_FIELD);
                };
        CommandException.require(
                FabricsCommand.isLongProperty(command)
                        == (FabricsCommand.propertyOffset(command) == MappedRegisters.CAPABILITIES),
                Status.INVALID_FIELD);
        return value;
    }

    /** Sets a property, of which only the configuration can be set. */
    void setProperty(Command command) throws CommandException {
        CommandException.require(
                FabricsCommand.propertyOffset(command) == MappedRegisters.CONFIGURATION
                        && !FabricsCommand.isLongProperty(command),
                Status.INVALID_FIELD);
        var wanted = Configuration.decode(FabricsCommand.propertyValue(command));
        if (!wanted.enabled()) {
            reset();
        } else if (status == 0) {
            var isValid = wanted.enabled(true).shutdown(0).equals(Configuration.ENABLED);
            status = isValid ? MappedRegisters.READY : MappedRegisters.FATAL;
        }
        configuration = FabricsCommand.propertyValue(command);
        if (wanted.shutdown() != 0) {
            core.flushAll();
            status |= MappedRegisters.SHUTDOWN_COMPLETE;
        }
    }

    private void reset() {
        status = 0;
        closeQueues();
        core.reset();
        identifyHost();
    }

    private synchronized List<Closeable> takeQueues() {
        var all = new ArrayList<>(ioQueues.values());
        ioQueues.clear();
        return all;
    }

    private void closeQueues() {
        takeQueues().forEach(Closeable::close);
    }

    /** Adds an I/O queue. Called by the thread of the queue. */
    synchronized void addQueue(ConnectData data, int queueId, Closeable queue)
            throws CommandException {
        CommandException.require(
                data.host().equals(host.host())
                        && data.hostName().equals(host.hostName())
                        && !subsystem.isDiscovery()
                        && queueId >= 1
                        && queueId <= core.features().ioQueues(),
                Status.CONNECT_PARAMETERS);
        CommandException.require(
                !ended && isReady() && !ioQueues.containsKey(queueId), Status.CONNECT_BUSY);
        ioQueues.put(queueId, queue);
    }

    /** Removes an I/O queue that has ended. Called by the thread of the queue. */
    synchronized void removeQueue(int queueId, Closeable queue) {
        ioQueues.remove(queueId, queue);
    }

    synchronized boolean hasIoQueues() {
        return !ioQueues.isEmpty();
    }

    /** Ends this controller and its I/O queues. */
    void end() {
        synchronized (this) {
            ended = true;
        }
        closeQueues();
        core.close();
        subsystem.returnControllerId(core.id());
    }
}
