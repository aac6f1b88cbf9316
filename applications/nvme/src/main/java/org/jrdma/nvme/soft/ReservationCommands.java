package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.ReservationAction;
import org.jrdma.nvme.model.ReservationType;
import org.jrdma.nvme.model.Status;

/** The reservation commands of a controller. */
final class ReservationCommands {

    private static final int KEYS_BYTES = 16;

    /** The value of the field CPTPL that requests reservations that survive a loss of power. */
    private static final int PERSIST = 3;

    private static final ValueLayout.OfLong LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The keys in the data of a command. */
    private record Keys(long current, long second) {}

    private final int controllerId;
    private final Features features;
    private final HostDataBuffer data;

    ReservationCommands(int controllerId, Features features, HostDataBuffer data) {
        this.controllerId = controllerId;
        this.features = features;
        this.data = data;
    }

    void register(Namespace namespace, Command command) throws CommandException {
        CommandException.require(command.dword10() >>> 30 != PERSIST, Status.INVALID_FIELD);
        var host = host();
        var keys = keys(command, KEYS_BYTES);
        var ignoreKey = (command.dword10() & ReservationAction.IGNORE_KEY) != 0;
        var reservations = namespace.reservations();
        switch (ReservationAction.of(command.dword10())) {
            case ReservationAction.REGISTER ->
                    reservations.register(host, controllerId, keys.second());
            case ReservationAction.UNREGISTER ->
                    reservations.unregister(host, keys.current(), ignoreKey);
            case ReservationAction.REPLACE ->
                    reservations.replace(
                            host, controllerId, keys.current(), keys.second(), ignoreKey);
            default -> throw new CommandException(Status.INVALID_FIELD);
        }
    }

    void acquire(Namespace namespace, Command command) throws CommandException {
        CommandException.require(
                (command.dword10() & ReservationAction.IGNORE_KEY) == 0, Status.INVALID_FIELD);
        var type = type(command);
        var host = host();
        var keys = keys(command, KEYS_BYTES);
        var reservations = namespace.reservations();
        switch (ReservationAction.of(command.dword10())) {
            case ReservationAction.ACQUIRE -> reservations.acquire(host, keys.current(), type);
            // No command of the preempted host is active, because this command holds the namespace.
            case ReservationAction.PREEMPT, ReservationAction.PREEMPT_AND_ABORT ->
                    reservations.preempt(host, keys.current(), keys.second(), type);
            default -> throw new CommandException(Status.INVALID_FIELD);
        }
    }

    void release(Namespace namespace, Command command) throws CommandException {
        CommandException.require(
                (command.dword10() & ReservationAction.IGNORE_KEY) == 0, Status.INVALID_FIELD);
        var host = host();
        var keys = keys(command, Long.BYTES);
        var reservations = namespace.reservations();
        switch (ReservationAction.of(command.dword10())) {
            case ReservationAction.RELEASE ->
                    reservations.release(host, keys.current(), type(command));
            case ReservationAction.CLEAR -> reservations.clear(host, keys.current());
            default -> throw new CommandException(Status.INVALID_FIELD);
        }
    }

    void report(Namespace namespace, Command command) throws CommandException {
        var isExtended = (command.dword11() & 1) != 0;
        CommandException.require(
                isExtended
                        || !(features.host().isExtended()
                                || namespace.reservations().hasRegistrants(true)),
                Status.HOST_IDENTIFIER_FORMAT);
        var requested = Integer.toUnsignedLong(command.dword10()) * 4 + 4;
        CommandException.require(requested <= HostDataBuffer.MAX_BYTES, Status.INVALID_FIELD);
        var bytes = (int) requested;
        data.select(command, bytes);
        var report = namespace.reservations().report();
        var page = data.zeroed(Math.max(bytes, report.bytes(isExtended)));
        report.encode(page, isExtended);
        data.write(page, 0);
    }

    /** Returns the host, which must have set its identifier. */
    private HostIdentifier host() throws CommandException {
        CommandException.require(!features.host().isNone(), Status.COMMAND_SEQUENCE_ERROR);
        return features.host();
    }

    private Keys keys(Command command, int bytes) throws CommandException {
        data.select(command, bytes);
        var keys = data.zeroed(KEYS_BYTES);
        data.read(keys, 0);
        return new Keys(keys.get(LONG, 0), keys.get(LONG, Long.BYTES));
    }

    private static ReservationType type(Command command) throws CommandException {
        return ReservationType.of(ReservationAction.typeCode(command.dword10()))
                .orElseThrow(() -> new CommandException(Status.INVALID_FIELD));
    }
}
