package org.jrdma.nvme.soft;

import java.util.Random;
import java.util.Set;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.FabricsDataPointer;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.IdentifyStructureCodes;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;

/**
 * Makes up capsules of a connected host, with the documented status of each of them. They change
 * any block of namespace 2, but only the blocks of namespace 1 that no other host uses.
 */
final class MadeUpCapsules {

    static final int FIRST_FOREIGN_BLOCK = 4000;

    /** The statuses of the malformed capsules, all of which must occur in a run. */
    static final Set<Status> DOCUMENTED =
            Set.of(
                    Status.INVALID_OPCODE,
                    Status.INVALID_FIELD,
                    Status.INVALID_NAMESPACE,
                    Status.COMMAND_SEQUENCE_ERROR,
                    Status.DATA_LENGTH_INVALID,
                    Status.DATA_OFFSET_INVALID,
                    Status.DESCRIPTOR_TYPE_INVALID,
                    Status.LBA_OUT_OF_RANGE,
                    Status.INVALID_LOG_PAGE,
                    Status.FEATURE_NOT_SAVEABLE);

    private static final int BLOCK_BYTES = 512;
    private static final int MAX_BLOCKS = HostDataBuffer.MAX_BYTES / BLOCK_BYTES;
    private static final int MAX_IN_CAPSULE = 4096;
    private static final int PAGE_BYTES = 4096;
    private static final int SAVE = 1 << 31;

    private static final Set<Integer> IO_OPCODES =
            Set.of(0x00, 0x01, 0x02, 0x08, 0x09, 0x0d, 0x0e, 0x11, 0x15, FabricsCommand.OPCODE);

    private static final Set<Integer> ADMIN_OPCODES =
            Set.of(0x02, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x18, FabricsCommand.OPCODE);

    private static final Set<Integer> POINTER_KINDS =
            Set.of(
                    FabricsDataPointer.IN_CAPSULE,
                    FabricsDataPointer.KEYED,
                    FabricsDataPointer.KEYED_INVALIDATING);

    private static final Set<Integer> FABRICS_TYPES =
            Set.of(
                    FabricsCommand.PROPERTY_SET,
                    FabricsCommand.CONNECT,
                    FabricsCommand.PROPERTY_GET);

    /** The expected effect of a capsule. */
    enum Effect {
        RESPONSE,
        /** A response at any later time. */
        EVENT_REQUEST,
        /** The end of the connection, possibly before the responses to earlier capsules. */
        DISCONNECT,
        /** A response, and the end of all I/O queues of the controller. */
        RESET
    }

    /**
     * A capsule.
     *
     * @param bytes the size of the capsule
     * @param expected the statuses that are possible; empty for all but an internal error
     */
    record Capsule(Command command, int bytes, Set<Status> expected, Effect effect) {
        boolean isFabrics() {
            return command.opcode() == FabricsCommand.OPCODE;
        }
    }

    private final Random random;

    MadeUpCapsules(Random random) {
        this.random = random;
    }

    private static Capsule capsule(
            Command command, FabricsDataPointer pointer, Status... expected) {
        return new Capsule(
                pointer.encode(command), Command.BYTES, Set.of(expected), Effect.RESPONSE);
    }

    /** Returns a capsule whose data start behind the command. */
    private static Capsule inCapsule(
            Command command, int offset, int length, int extraBytes, Status... expected) {
        var pointer = new FabricsDataPointer(FabricsDataPointer.IN_CAPSULE, offset, length, 0);
        return new Capsule(
                pointer.encode(command),
                Command.BYTES + extraBytes,
                Set.of(expected),
                Effect.RESPONSE);
    }

    private int without(Set<Integer> excluded, int bound) {
        while (true) {
            var value = random.nextInt(bound);
            if (!excluded.contains(value)) {
                return value;
            }
        }
    }

    private Command transfer(int maxBlocks) {
        var opcode = random.nextBoolean() ? IoOpcode.READ : IoOpcode.WRITE;
        return transfer(opcode, maxBlocks);
    }

    /** Returns a valid command without data for blocks that only the hostile host uses. */
    private Command transfer(int opcode, int maxBlocks) {
        var blocks = 1 + random.nextInt(maxBlocks);
        return Command.blocks(
                opcode,
                1 + random.nextInt(2),
                random.nextInt(FIRST_FOREIGN_BLOCK - blocks + 1),
                blocks);
    }

    private static int bytes(Command transfer) {
        return transfer.blocks() * BLOCK_BYTES;
    }

    /** Makes up a capsule for an I/O queue. */
    Capsule forIo(UncheckedHostQueue host) {
        return switch (random.nextInt(4)) {
            case 0 -> validIo(host);
            case 1, 2 -> malformedIo(host);
            default -> random.nextInt(25) == 0 ? disconnecting(host, MAX_IN_CAPSULE) : anyIo(host);
        };
    }

    private Capsule validIo(UncheckedHostQueue host) {
        return switch (random.nextInt(6)) {
            case 0 -> {
                var command = transfer(IoOpcode.WRITE, MAX_IN_CAPSULE / BLOCK_BYTES);
                var offset = random.nextInt(MAX_IN_CAPSULE - bytes(command) + 1);
                yield inCapsule(
                        command, offset, bytes(command), offset + bytes(command), Status.SUCCESS);
            }
            case 1 -> {
                var command = transfer(MAX_BLOCKS);
                yield capsule(command, host.keyed(bytes(command)), Status.SUCCESS);
            }
            case 2 ->
                    capsule(
                            transfer(IoOpcode.WRITE_ZEROES, MAX_BLOCKS),
                            host.none(),
                            Status.SUCCESS);
            case 3 -> capsule(flush(), host.none(), Status.SUCCESS);
            default -> {
                var command = transfer(32);
                yield capsule(command, host.keyed(bytes(command)), Status.SUCCESS);
            }
        };
    }

    private Command flush() {
        var namespace = random.nextBoolean() ? 1 : Command.ALL_NAMESPACES;
        return Command.admin(IoOpcode.FLUSH).withNamespace(namespace);
    }

    private Capsule malformedIo(UncheckedHostQueue host) {
        var valid = transfer(32);
        var keyed = host.keyed(bytes(valid));
        var write = transfer(IoOpcode.WRITE, MAX_IN_CAPSULE / BLOCK_BYTES);
        var extra = random.nextInt(MAX_IN_CAPSULE + 1);
        return switch (random.nextInt(13)) {
            case 0 -> withoutSgl(capsule(valid, keyed, Status.INVALID_FIELD));
            case 1 -> capsule(valid, unknownPointer(), Status.DESCRIPTOR_TYPE_INVALID);
            case 2 ->
                    inCapsule(
                            transfer(IoOpcode.READ, 8),
                            0,
                            extra,
                            extra,
                            Status.DESCRIPTOR_TYPE_INVALID);
            case 3 -> capsule(valid, tooLong(host), Status.DATA_LENGTH_INVALID);
            case 4 ->
                    capsule(
                            valid,
                            host.keyed(random.nextInt(bytes(valid))),
                            Status.DATA_LENGTH_INVALID);
            case 5 ->
                    inCapsule(
                            write,
                            random.nextBoolean() ? -1 - random.nextInt(9999) : extra + 1,
                            0,
                            extra,
                            Status.DATA_OFFSET_INVALID);
            case 6 ->
                    inCapsule(
                            write,
                            random.nextInt(extra + 1),
                            random.nextBoolean() ? -1 - random.nextInt(9999) : extra + 1,
                            extra,
                            Status.DATA_LENGTH_INVALID);
            case 7 ->
                    capsule(
                            new Command(without(IO_OPCODES, 256), 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0),
                            host.keyed(PAGE_BYTES),
                            Status.INVALID_OPCODE);
            case 8 ->
                    capsule(
                            valid.withNamespace(without(Set.of(2, 3), 64) - 1),
                            keyed,
                            Status.INVALID_NAMESPACE);
            case 9 ->
                    capsule(
                            valid.withDwords(
                                    Harness.BLOCKS - valid.blocks() + 1 + random.nextInt(99),
                                    random.nextInt(3) - 1,
                                    valid.dword12()),
                            keyed,
                            Status.LBA_OUT_OF_RANGE);
            case 10 ->
                    capsule(
                            valid.withDwords(0, 0, MAX_BLOCKS + random.nextInt(60_000)),
                            keyed,
                            Status.INVALID_FIELD);
            case 11 ->
                    capsule(fabrics(FabricsCommand.CONNECT), keyed, Status.COMMAND_SEQUENCE_ERROR);
            default ->
                    capsule(
                            fabrics(without(Set.of(FabricsCommand.CONNECT), 256)),
                            keyed,
                            Status.INVALID_OPCODE);
        };
    }

    private static Command fabrics(int type) {
        return Command.admin(FabricsCommand.OPCODE).withNamespace(type);
    }

    private Capsule withoutSgl(Capsule capsule) {
        return new Capsule(
                capsule.command().withFlags(without(Set.of(FabricsDataPointer.FLAGS), 256)),
                capsule.bytes(),
                capsule.expected(),
                capsule.effect());
    }

    private FabricsDataPointer unknownPointer() {
        return new FabricsDataPointer(
                without(POINTER_KINDS, 256),
                random.nextLong(),
                random.nextInt(FabricsDataPointer.MAX_KEYED_BYTES),
                random.nextInt());
    }

    private FabricsDataPointer tooLong(UncheckedHostQueue host) {
        return host.keyed(
                HostDataBuffer.MAX_BYTES
                        + 1
                        + random.nextInt(
                                FabricsDataPointer.MAX_KEYED_BYTES - HostDataBuffer.MAX_BYTES));
    }

    /** Returns a command with any fields. Commands that change blocks use namespace 2. */
    private Capsule anyIo(UncheckedHostQueue host) {
        var opcode =
                random.nextInt(3) == 0
                        ? random.nextInt(256)
                        : random.nextInt(3) == 0
                                ? IoOpcode.DATASET_MANAGEMENT
                                : IoOpcode.RESERVATION_REGISTER + 4 * random.nextInt(3);
        var isHarmless = opcode == IoOpcode.READ || opcode == FabricsCommand.OPCODE;
        return any(opcode, isHarmless ? random.nextInt(256) : 2, host, Effect.RESPONSE);
    }

    private Capsule any(int opcode, int namespace, UncheckedHostQueue host, Effect effect) {
        var command =
                new Command(
                        opcode,
                        0,
                        0,
                        namespace,
                        0,
                        0,
                        anyDword(),
                        anyDword(),
                        anyDword(),
                        anyDword(),
                        random.nextInt(),
                        random.nextInt());
        var pointer =
                host.keyed(
                        random.nextInt(
                                random.nextInt(8) == 0
                                        ? HostDataBuffer.MAX_BYTES
                                        : 2 * PAGE_BYTES));
        return new Capsule(pointer.encode(command), Command.BYTES, Set.of(), effect);
    }

    private int anyDword() {
        return random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(16);
    }

    /**
     * Returns a capsule of an invalid size, or with memory that the target cannot access.
     *
     * @param maxExtra the largest number of bytes behind the command
     */
    private Capsule disconnecting(UncheckedHostQueue host, int maxExtra) {
        var read = transfer(IoOpcode.READ, 8);
        var valid = host.keyed(bytes(read));
        var isAdmin = maxExtra == 0;
        var command = isAdmin ? identify(IdentifyStructureCodes.CONTROLLER) : read;
        var pointer =
                switch (random.nextInt(4)) {
                    case 0, 1 -> valid;
                    case 2 ->
                            new FabricsDataPointer(
                                    FabricsDataPointer.KEYED,
                                    valid.address(),
                                    PAGE_BYTES,
                                    valid.key() ^ (1 + random.nextInt(Integer.MAX_VALUE)));
                    default ->
                            new FabricsDataPointer(
                                    FabricsDataPointer.KEYED,
                                    valid.address() + UncheckedHostQueue.DATA_BYTES,
                                    PAGE_BYTES,
                                    valid.key());
                };
        var bytes = Command.BYTES;
        if (pointer.equals(valid)) {
            bytes =
                    random.nextBoolean()
                            ? random.nextInt(Command.BYTES)
                            : Command.BYTES + maxExtra + 1 + random.nextInt(MAX_IN_CAPSULE - 1);
        }
        return new Capsule(pointer.encode(command), bytes, Set.of(), Effect.DISCONNECT);
    }

    private static Command identify(int structure) {
        return Command.admin(AdminOpcode.IDENTIFY).withDwords(structure, 0, 0);
    }

    /** Makes up a capsule for an admin queue. */
    Capsule forAdmin(UncheckedHostQueue host) {
        return switch (random.nextInt(4)) {
            case 0 -> validAdmin(host);
            case 1, 2 -> malformedAdmin(host);
            default ->
                    switch (random.nextInt(50)) {
                        case 0 -> disconnecting(host, 0);
                        case 1 -> reset(host);
                        default -> anyAdmin(host);
                    };
        };
    }

    private Capsule validAdmin(UncheckedHostQueue host) {
        var page = host.keyed(PAGE_BYTES);
        return switch (random.nextInt(8)) {
            case 0 -> capsule(identify(IdentifyStructureCodes.CONTROLLER), page, Status.SUCCESS);
            case 1 ->
                    capsule(
                            identify(without(Set.of(1, 2), 4)).withNamespace(1 + random.nextInt(2)),
                            page,
                            Status.SUCCESS);
            case 2 ->
                    capsule(
                            Command.admin(AdminOpcode.GET_LOG_PAGE)
                                    .withDwords(
                                            (1 + random.nextInt(4)) | (random.nextInt(1024) << 16),
                                            0,
                                            0),
                            page,
                            Status.SUCCESS);
            case 3 ->
                    capsule(
                            Command.admin(AdminOpcode.GET_FEATURES)
                                    .withDwords(FeatureId.VOLATILE_WRITE_CACHE, 0, 0),
                            page,
                            Status.SUCCESS);
            case 4 ->
                    capsule(
                            Command.admin(AdminOpcode.ABORT)
                                    .withDwords(random.nextInt(1 << 16) << 16, 0, 0),
                            host.none(),
                            Status.SUCCESS);
            case 5 ->
                    capsule(
                            FabricsCommand.propertyGet(MappedRegisters.STATUS, false),
                            host.none(),
                            Status.SUCCESS);
            case 6 ->
                    new Capsule(
                            host.none().encode(Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST)),
                            Command.BYTES,
                            Set.of(
                                    Status.SUCCESS,
                                    Status.ABORT_REQUESTED,
                                    Status.ASYNC_EVENT_LIMIT),
                            Effect.EVENT_REQUEST);
            default -> capsule(Command.admin(AdminOpcode.KEEP_ALIVE), host.none(), Status.SUCCESS);
        };
    }

    private Capsule malformedAdmin(UncheckedHostQueue host) {
        var identify = identify(IdentifyStructureCodes.CONTROLLER);
        var page = host.keyed(PAGE_BYTES);
        return switch (random.nextInt(13)) {
            case 0 -> withoutSgl(capsule(identify, page, Status.INVALID_FIELD));
            case 1 -> capsule(identify, unknownPointer(), Status.DESCRIPTOR_TYPE_INVALID);
            case 2 -> inCapsule(identify, 0, 0, 0, Status.DESCRIPTOR_TYPE_INVALID);
            case 3 -> capsule(identify, tooLong(host), Status.DATA_LENGTH_INVALID);
            case 4 ->
                    capsule(
                            identify,
                            host.keyed(random.nextInt(PAGE_BYTES)),
                            Status.DATA_LENGTH_INVALID);
            case 5 ->
                    capsule(
                            Command.admin(without(ADMIN_OPCODES, 256)),
                            page,
                            Status.INVALID_OPCODE);
            case 6 -> capsule(identify(4 + random.nextInt(252)), page, Status.INVALID_FIELD);
            case 7 ->
                    capsule(
                            identify(IdentifyStructureCodes.NAMESPACE)
                                    .withNamespace(without(Set.of(2, 3), 64) - 1),
                            page,
                            Status.INVALID_NAMESPACE);
            case 8 ->
                    capsule(
                            Command.admin(AdminOpcode.GET_LOG_PAGE)
                                    .withDwords(5 + random.nextInt(0x7b), 0, 0),
                            page,
                            Status.INVALID_LOG_PAGE);
            case 9 ->
                    capsule(
                            Command.admin(AdminOpcode.SET_FEATURES)
                                    .withDwords(SAVE | random.nextInt(256), 0, 0),
                            page,
                            Status.FEATURE_NOT_SAVEABLE);
            case 10 ->
                    capsule(
                            FabricsCommand.propertySet(
                                    without(Set.of(MappedRegisters.CONFIGURATION), 8192), 1),
                            host.none(),
                            Status.INVALID_FIELD);
            case 11 ->
                    capsule(fabrics(FabricsCommand.CONNECT), page, Status.COMMAND_SEQUENCE_ERROR);
            default -> capsule(fabrics(without(FABRICS_TYPES, 256)), page, Status.INVALID_OPCODE);
        };
    }

    private Capsule anyAdmin(UncheckedHostQueue host) {
        var opcode =
                switch (random.nextInt(4)) {
                    case 0 -> random.nextInt(256);
                    case 1 -> AdminOpcode.SET_FEATURES;
                    case 2 -> AdminOpcode.GET_FEATURES;
                    default -> AdminOpcode.GET_LOG_PAGE;
                };
        var effect =
                opcode == AdminOpcode.ASYNC_EVENT_REQUEST ? Effect.EVENT_REQUEST : Effect.RESPONSE;
        return any(opcode, random.nextInt(4), host, effect);
    }

    private Capsule reset(UncheckedHostQueue host) {
        var set = FabricsCommand.propertySet(MappedRegisters.CONFIGURATION, random.nextInt() & ~1);
        return new Capsule(
                host.none().encode(set), Command.BYTES, Set.of(Status.SUCCESS), Effect.RESET);
    }
}
