package org.jrdma.nvme.soft;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.FabricsCommand.Connect;
import org.jrdma.nvme.model.ResponseCapsule;
import org.jrdma.nvme.model.Status;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of a host: executes the commands that arrive at one connection. Confined to its thread,
 * except {@link #close()}.
 */
final class TargetQueueWorker implements TargetController.Closeable, TargetConnection.Handler {

    private static final Logger LOG = LoggerFactory.getLogger(TargetQueueWorker.class);
    private static final Duration TICK = Duration.ofMillis(50);
    private static final int SPINS = 50;

    /** An asynchronous event request whose response waits for a free slot. */
    private record EndedRequest(TargetCommand command, long result, Status status) {}

    private final ExportedSubsystems exports;
    private final TargetOptions options;
    private final ConnectPrivateData request;
    private final TargetConnection connection;
    private final String name;
    private final Deadline connectDeadline;
    private final StagedBuffer data = new StagedBuffer();
    private final ResumableCommandProgress progress = new ResumableCommandProgress();

    /** The commands that wait for a buffer, and those that can be executed. */
    private final Deque<TargetCommand> arrived = new ArrayDeque<>();

    private final Deque<TargetCommand> ready = new ArrayDeque<>();

    /** The commands whose data are being read, by their slots. */
    private final Map<Integer, TargetCommand> reading = new HashMap<>();

    /** The asynchronous event requests, by their ids. */
    private final Map<Integer, TargetCommand> eventRequests = new HashMap<>();

    private final Deque<EndedRequest> ended = new ArrayDeque<>();

    private @Nullable TargetController controller;
    private @Nullable NvmCommands nvm;
    private @Nullable ConnectData connectData;
    private int head;

    /** The size of the queue that the host has stated, which is at most that of the connection. */
    private int entries;

    private boolean failureLogged;
    private volatile boolean closing;

    TargetQueueWorker(
            ExportedSubsystems exports,
            TargetOptions options,
            ConnectPrivateData request,
            TargetConnection connection,
            String name) {
        this.exports = exports;
        this.options = options;
        this.request = request;
        this.connection = connection;
        this.name = name;
        this.entries = request.commands();
        this.connectDeadline = Deadline.after(options.connectTimeout());
    }

    /** Serves the host until the connection ends or the queue is closed. */
    void run() {
        try {
            var idle = 0;
            while (!isEnded()) {
                if (connection.poll(this)) {
                    idle = 0;
                } else if (idle < SPINS) {
                    idle++;
                    Thread.onSpinWait();
                } else {
                    connection.await(TICK);
                }
                advance();
                if (isAdmin()) {
                    reportEvents();
                }
            }
        } catch (FabricException | InterruptedIOException e) {
            LOG.debug("{}: {}", name, e.getMessage());
        } finally {
            end();
        }
    }

    private boolean isAdmin() {
        return request.queueId() == 0;
    }

    private boolean isEnded() {
        if (isStopped()) {
            return true;
        }
        if (controller == null) {
            return connectDeadline.hasPassed();
        }
        if (isAdmin() && controller.isExpired()) {
            LOG.warn("{} has given no sign of life within its keep-alive timeout", name);
            return true;
        }
        return false;
    }

    /** Returns true if no further command must be executed. */
    private boolean isStopped() {
        return closing || connection.isDisconnected();
    }

    private void end() {
        var owner = controller;
        if (owner != null && isAdmin()) {
            if (connectData != null) {
                exports.remove(connectData, owner);
            }
            owner.end();
        } else if (owner != null) {
            owner.removeQueue(request.queueId(), this);
        }
        connection.close();
    }

    /** Ends the queue. Safe for use by multiple threads. */
    @Override
    public void close() {
        closing = true;
    }

    @Override
    public void arrived(int slot, MemorySegment capsule) {
        if (controller != null) {
            controller.touch();
        }
        arrived.add(new TargetCommand(slot, capsule));
    }

    @Override
    public void dataRead(int slot) {
        var command = reading.remove(slot);
        if (command != null) {
            ready.add(command);
        }
    }

    private void advance() throws FabricException {
        while (!arrived.isEmpty() && stage(arrived.getFirst())) {
            arrived.removeFirst();
        }
        while (!ready.isEmpty() && connection.canRespond() && !isStopped()) {
            execute(ready.removeFirst());
            if (controller != null) {
                controller.touch(); // the host was not heard during the execution
            }
        }
    }

    /** Prepares a command for its execution; returns false if no buffer is free. */
    private boolean stage(TargetCommand command) throws FabricException {
        if (!needsBuffer(command)) {
            ready.add(command);
            return true;
        }
        if (!connection.tryStage(command)) {
            return false;
        }
        var buffer = command.buffer();
        if (buffer != null && command.isToController()) {
            reading.put(command.slot(), command);
            connection.read(command, buffer);
        } else {
            ready.add(command);
        }
        return true;
    }

    /** Before a host has connected, only the data of a Connect command are transferred. */
    private boolean needsBuffer(TargetCommand command) {
        var bytes = command.stagedBytes();
        return bytes > 0
                && (controller != null
                        || (command.isConnect() && bytes <= StagingPool.SMALL_BYTES));
    }

    private void execute(TargetCommand command) throws FabricException {
        head = (head + 1) % entries;
        try {
            data.start(command.data());
            if (command.command().opcode() == FabricsCommand.OPCODE) {
                respond(command, executeFabrics(command), Status.SUCCESS);
            } else if (isAdmin()) {
                executeAdmin(command);
            } else {
                executeIo(command);
            }
        } catch (CommandException e) {
            if (controller != null) {
                controller.core().recordFailure(request.queueId(), command.command(), e);
            }
            respond(command, 0, e.status());
        } catch (RuntimeException | Error e) { // such as OutOfMemoryError: the host waits
            logFailure(e);
            respond(command, 0, Status.INTERNAL_ERROR);
        }
    }

    /** Logs the first failure only, because a host may repeat the command. */
    private void logFailure(Throwable failure) {
        if (!failureLogged) {
            failureLogged = true;
            LOG.error("A command of {} failed. Further failures are not logged.", name, failure);
        }
    }

    private void respond(TargetCommand command, long result, Status status) throws FabricException {
        var isData = status == Status.SUCCESS && command.isToHost();
        connection.respond(
                command,
                isData ? data.written() : 0,
                new ResponseCapsule(
                        result, head, request.queueId(), command.command().id(), status.encode()));
    }

    private TargetController connected() throws CommandException {
        var connected = controller;
        if (connected == null) {
            throw new CommandException(Status.COMMAND_SEQUENCE_ERROR);
        }
        return connected;
    }

    private long executeFabrics(TargetCommand command) throws CommandException, FabricException {
        return switch (FabricsCommand.type(command.command())) {
            case FabricsCommand.CONNECT -> connect(command);
            case FabricsCommand.PROPERTY_GET -> {
                CommandException.require(isAdmin(), Status.INVALID_OPCODE);
                yield connected().property(command.command());
            }
            case FabricsCommand.PROPERTY_SET -> {
                CommandException.require(isAdmin(), Status.INVALID_OPCODE);
                connected().setProperty(command.command());
                dropEventRequests();
                yield 0;
            }
            default -> throw new CommandException(Status.INVALID_OPCODE);
        };
    }

    /** Frees the receives of the event requests that a reset of the controller has dropped. */
    private void dropEventRequests() throws CommandException, FabricException {
        var events = connected().core().events();
        for (var request : List.copyOf(eventRequests.values())) {
            if (!events.isRequested(request.command().id())) {
                eventRequests.remove(request.command().id());
                connection.drop(request);
            }
        }
    }

    private int connect(TargetCommand command) throws CommandException, FabricException {
        CommandException.require(controller == null, Status.COMMAND_SEQUENCE_ERROR);
        var connect = Connect.decode(command.command());
        CommandException.require(connect.format() == 0, Status.CONNECT_FORMAT);
        data.select(command.command(), ConnectData.BYTES);
        var bytes = data.zeroed(ConnectData.BYTES);
        data.read(bytes, 0);
        var decoded =
                ConnectData.decode(bytes)
                        .filter(each -> !each.host().isNone())
                        .orElseThrow(() -> new CommandException(Status.CONNECT_PARAMETERS));
        CommandException.require(
                connect.queueId() == request.queueId()
                        && connect.entries() >= 2
                        && connect.entries() <= request.commands(),
                Status.CONNECT_PARAMETERS);
        var connected = isAdmin() ? newController(connect, decoded) : exports.controller(decoded);
        if (!isAdmin()) {
            connected.addQueue(decoded, request.queueId(), this);
            nvm = connected.core().newCommands(data);
        }
        controller = connected;
        connectData = decoded;
        entries = connect.entries();
        connection.allocateBuffers();
        return connected.id();
    }

    private TargetController newController(Connect connect, ConnectData decoded)
            throws CommandException {
        CommandException.require(
                decoded.controllerId() == ConnectData.ANY_CONTROLLER, Status.CONNECT_PARAMETERS);
        var subsystem = exports.subsystem(decoded, connection.localAddress());
        var created =
                new TargetController(subsystem, decoded, connect.keepAliveMillis(), data, options);
        if (!subsystem.isDiscovery()) {
            exports.add(decoded, created);
        }
        return created;
    }

    private void executeAdmin(TargetCommand pending) throws CommandException, FabricException {
        var owner = connected();
        var command = pending.command();
        CommandException.require(owner.isReady(), Status.COMMAND_SEQUENCE_ERROR);
        CommandException.require(
                !eventRequests.containsKey(command.id()), Status.COMMAND_ID_CONFLICT);
        switch (command.opcode()) {
            case AdminOpcode.KEEP_ALIVE -> respond(pending, 0, Status.SUCCESS);
            case AdminOpcode.ASYNC_EVENT_REQUEST -> {
                owner.core().events().request(command.id());
                eventRequests.put(command.id(), pending);
            }
            case AdminOpcode.ABORT -> abort(owner, pending);
            default ->
                    respond(
                            pending,
                            Integer.toUnsignedLong(
                                    owner.core().admin().execute(command, owner.hasIoQueues())),
                            Status.SUCCESS);
        }
    }

    /** Aborts an asynchronous event request. All other commands have been executed. */
    private void abort(TargetController owner, TargetCommand pending) throws FabricException {
        var command = pending.command();
        var aborted = command.dword10() >>> 16;
        var isAborted = (command.dword10() & 0xffff) == 0 && owner.core().events().abort(aborted);
        respond(pending, isAborted ? 0 : 1, Status.SUCCESS);
        var event = isAborted ? eventRequests.remove(aborted) : null;
        if (event != null) {
            ended.add(new EndedRequest(event, 0, Status.ABORT_REQUESTED));
        }
    }

    private void executeIo(TargetCommand pending) throws CommandException, FabricException {
        var commands = nvm;
        if (commands == null) {
            throw new CommandException(Status.COMMAND_SEQUENCE_ERROR);
        }
        CommandException.require(connected().isReady(), Status.COMMAND_SEQUENCE_ERROR);
        progress.start();
        var _ = commands.execute(progress, pending.command());
        while (progress.isSuspended() && !isStopped()) {
            progress.resume();
            var _ = commands.execute(progress, pending.command());
        }
        if (!progress.isSuspended()) { // otherwise the queue ends without a response
            respond(pending, 0, Status.SUCCESS);
        }
    }

    private void reportEvents() throws FabricException {
        var owner = controller;
        if (owner == null) {
            return;
        }
        owner.core().takeNotices();
        for (var report = owner.core().events().next();
                report != null;
                report = owner.core().events().next()) {
            var command = eventRequests.remove(report.commandId());
            if (command != null) {
                ended.add(
                        new EndedRequest(
                                command,
                                Integer.toUnsignedLong(report.event().encode()),
                                Status.SUCCESS));
            }
        }
        while (!ended.isEmpty() && connection.canRespond()) {
            var next = ended.removeFirst();
            respond(next.command(), next.result(), next.status());
        }
    }
}
