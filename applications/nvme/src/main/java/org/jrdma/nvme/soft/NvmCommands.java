package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.Status;

/** Executes the I/O commands of a controller. */
final class NvmCommands {

    /** The number of bytes that one poll sets to zero, so that a poll does not take long. */
    private static final long ZEROES_PER_POLL = 4 << 20;

    /**
     * The number of bytes that one command deallocates. Deallocation is optional, so the controller
     * ignores the rest.
     */
    private static final long MAX_DEALLOCATION = 16 << 20;

    private static final int RANGE_BYTES = 16;
    private static final int DEALLOCATE = 1 << 2;
    private static final ValueLayout.OfInt INT = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Subsystem subsystem;
    private final Features features;
    private final Statistics statistics;
    private final HostDataBuffer data;
    private final ReservationCommands reservations;

    NvmCommands(
            Subsystem subsystem,
            int controllerId,
            Features features,
            Statistics statistics,
            HostDataBuffer data) {
        this.subsystem = subsystem;
        this.features = features;
        this.statistics = statistics;
        this.data = data;
        this.reservations = new ReservationCommands(controllerId, features, data);
    }

    /**
     * Executes a command, or a part of a command that takes long. If the command is suspended after
     * that, the caller must continue it later.
     *
     * @return the cost in bytes, by which the controller limits the work of a poll
     */
    long execute(ResumableCommandProgress progress, Command command) throws CommandException {
        if (command.opcode() == IoOpcode.FLUSH && command.namespace() == Command.ALL_NAMESPACES) {
            return flushAll(progress, command);
        }
        var namespace = subsystem.namespace(command.namespace());
        if (namespace == null) {
            throw new CommandException(
                    isKnown(command.opcode()) ? Status.INVALID_NAMESPACE : Status.INVALID_OPCODE);
        }
        return execute(progress, command, namespace);
    }

    private long execute(ResumableCommandProgress progress, Command command, Namespace namespace)
            throws CommandException {
        var lock = namespace.lock(isShared(command.opcode()));
        lock.lock();
        try {
            namespace.requirePresent();
            return executeLocked(progress, command, namespace);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns true if a command can run while commands of other controllers run. Writes cannot,
     * because a read must not return a part of a block of an older write.
     */
    private static boolean isShared(int opcode) {
        return opcode == IoOpcode.READ
                || opcode == IoOpcode.FLUSH
                || opcode == IoOpcode.RESERVATION_REPORT;
    }

    /** Makes one namespace durable with each poll, in the order of the ids. */
    private long flushAll(ResumableCommandProgress progress, Command command)
            throws CommandException {
        var next = subsystem.namespaceAfter((int) progress.done());
        if (next == null) {
            return 0;
        }
        var cost = 0L;
        try {
            cost = execute(progress, command, next);
        } catch (CommandException e) {
            if (e.status() != Status.INVALID_NAMESPACE) { // the program has removed it meanwhile
                throw e;
            }
        }
        if (subsystem.namespaceAfter(next.id()) != null) {
            progress.suspend(next.id());
        }
        return cost;
    }

    private static boolean isKnown(int opcode) {
        return switch (opcode) {
            case IoOpcode.FLUSH,
                    IoOpcode.WRITE,
                    IoOpcode.READ,
                    IoOpcode.WRITE_ZEROES,
                    IoOpcode.DATASET_MANAGEMENT,
                    IoOpcode.RESERVATION_REGISTER,
                    IoOpcode.RESERVATION_REPORT,
                    IoOpcode.RESERVATION_ACQUIRE,
                    IoOpcode.RESERVATION_RELEASE ->
                    true;
            default -> false;
        };
    }

    private long executeLocked(
            ResumableCommandProgress progress, Command command, Namespace namespace)
            throws CommandException {
        switch (command.opcode()) {
            case IoOpcode.FLUSH -> {
                requireWriteAccess(namespace);
                return namespace.storage().force();
            }
            case IoOpcode.WRITE -> {
                return write(namespace, command);
            }
            case IoOpcode.READ -> {
                return read(namespace, command);
            }
            case IoOpcode.WRITE_ZEROES -> {
                return writeZeroes(progress, namespace, command);
            }
            case IoOpcode.DATASET_MANAGEMENT -> {
                return manageDataset(progress, namespace, command);
            }
            case IoOpcode.RESERVATION_REGISTER -> reservations.register(namespace, command);
            case IoOpcode.RESERVATION_REPORT -> reservations.report(namespace, command);
            case IoOpcode.RESERVATION_ACQUIRE -> reservations.acquire(namespace, command);
            case IoOpcode.RESERVATION_RELEASE -> reservations.release(namespace, command);
            default -> throw new CommandException(Status.INVALID_OPCODE);
        }
        return 0;
    }

    private void requireWriteAccess(Namespace namespace) throws CommandException {
        CommandException.require(
                namespace.reservations().mayWrite(features.host()), Status.RESERVATION_CONFLICT);
    }

    /** Selects the memory of a read or write command, and returns the number of bytes. */
    private int select(Namespace namespace, Command command) throws CommandException {
        var bytes = (long) command.blocks() << namespace.storage().blockShift();
        CommandException.require(bytes <= HostDataBuffer.MAX_BYTES, Status.INVALID_FIELD);
        requireRange(namespace, command.firstBlock(), command.blocks());
        data.select(command, (int) bytes);
        return (int) bytes;
    }

    private static void requireRange(Namespace namespace, long first, long blocks)
            throws CommandException {
        var available = namespace.storage().blocks();
        CommandException.require(
                first >= 0 && first <= available && blocks <= available - first,
                Status.LBA_OUT_OF_RANGE);
    }

    private long read(Namespace namespace, Command command) throws CommandException {
        var bytes = select(namespace, command);
        CommandException.require(
                namespace.reservations().mayRead(features.host()), Status.RESERVATION_CONFLICT);
        var storage = namespace.storage();
        storage.read(command.firstBlock() << storage.blockShift(), bytes, data);
        statistics.countRead(bytes);
        return bytes;
    }

    private long write(Namespace namespace, Command command) throws CommandException {
        var bytes = select(namespace, command);
        requireWriteAccess(namespace);
        var storage = namespace.storage();
        var offset = command.firstBlock() << storage.blockShift();
        storage.write(offset, bytes, data);
        var forced = forceIfRequested(storage, command, offset, bytes);
        statistics.countWrite(bytes);
        return bytes + forced;
    }

    private long forceIfRequested(BlockStorage storage, Command command, long offset, long bytes)
            throws CommandException {
        if ((command.dword12() & Command.FORCE_UNIT_ACCESS) != 0
                || !features.isWriteCacheEnabled()) {
            return storage.force(offset, bytes);
        }
        return 0;
    }

    private long writeZeroes(
            ResumableCommandProgress progress, Namespace namespace, Command command)
            throws CommandException {
        requireRange(namespace, command.firstBlock(), command.blocks());
        requireWriteAccess(namespace);
        var storage = namespace.storage();
        var offset = command.firstBlock() << storage.blockShift();
        var bytes = (long) command.blocks() << storage.blockShift();
        var done = progress.done();
        var part = Math.min(bytes - done, ZEROES_PER_POLL);
        storage.zero(offset + done, part);
        if (done + part < bytes) {
            progress.suspend(done + part);
            return part;
        }
        return part + forceIfRequested(storage, command, offset, bytes);
    }

    private long manageDataset(
            ResumableCommandProgress progress, Namespace namespace, Command command)
            throws CommandException {
        var ranges = (command.dword10() & 0xff) + 1;
        data.select(command, ranges * RANGE_BYTES);
        var list = data.staging(ranges * RANGE_BYTES);
        data.read(list, 0);
        for (var i = 0L; i < ranges; i++) {
            requireRange(namespace, firstBlock(list, i), blocks(list, i));
        }
        requireWriteAccess(namespace);
        if ((command.dword11() & DEALLOCATE) == 0) {
            return 0;
        }
        var done = progress.done();
        var part = zeroRanges(namespace.storage(), list, ranges, done);
        if (part == ZEROES_PER_POLL && done + part < MAX_DEALLOCATION) {
            progress.suspend(done + part);
        }
        return part;
    }

    /**
     * Sets a part of some ranges to zero.
     *
     * @param done the number of bytes at the beginning of the ranges to skip
     * @return the number of bytes that were set to zero, at most {@link #ZEROES_PER_POLL}
     */
    private static long zeroRanges(BlockStorage storage, MemorySegment list, int ranges, long done)
            throws CommandException {
        var skip = done;
        var left = ZEROES_PER_POLL;
        for (var i = 0L; i < ranges && left > 0; i++) {
            var bytes = blocks(list, i) << storage.blockShift();
            var part = Math.min(left, Math.max(bytes - skip, 0));
            var first = Math.min(skip, bytes);
            storage.zero((firstBlock(list, i) << storage.blockShift()) + first, part);
            skip -= first;
            left -= part;
        }
        return ZEROES_PER_POLL - left;
    }

    private static long firstBlock(MemorySegment ranges, long index) {
        return ranges.get(LONG, index * RANGE_BYTES + 8);
    }

    private static long blocks(MemorySegment ranges, long index) {
        return Integer.toUnsignedLong(ranges.get(INT, index * RANGE_BYTES + 4));
    }
}
