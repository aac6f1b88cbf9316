package org.jrdma.nvme.soft;

import java.lang.foreign.MemorySegment;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.FabricsCommand;
import org.jrdma.nvme.model.FabricsDataPointer;
import org.jrdma.nvme.model.Status;
import org.jspecify.annotations.Nullable;

/** A command of a host, from its arrival until the response. */
final class TargetCommand {

    private static final int DIRECTION_MASK = 3;
    private static final int TO_CONTROLLER = 1;
    private static final int TO_HOST = 2;

    private final int slot;
    private final Command command;
    private final FabricsDataPointer pointer;
    private final MemorySegment inCapsule;
    private StagingPool.@Nullable Buffer buffer;

    /**
     * Decodes a capsule.
     *
     * @param slot the receive that the capsule has used
     * @param capsule the capsule as it has arrived
     */
    TargetCommand(int slot, MemorySegment capsule) {
        this.slot = slot;
        this.command = Command.decode(capsule, 0);
        this.pointer = FabricsDataPointer.decode(command);
        this.inCapsule = capsule.asSlice(Command.BYTES);
    }

    int slot() {
        return slot;
    }

    Command command() {
        return command;
    }

    FabricsDataPointer pointer() {
        return pointer;
    }

    /** Returns the memory of the target for data that RDMA moves; null if there is none. */
    StagingPool.@Nullable Buffer buffer() {
        return buffer;
    }

    void buffer(StagingPool.@Nullable Buffer newBuffer) {
        buffer = newBuffer;
    }

    private int direction() {
        var code =
                command.opcode() == FabricsCommand.OPCODE
                        ? FabricsCommand.type(command)
                        : command.opcode();
        return code & DIRECTION_MASK;
    }

    boolean isToHost() {
        return direction() == TO_HOST;
    }

    /** Returns true if the data must be read from the host before the command is executed. */
    boolean isToController() {
        return direction() == TO_CONTROLLER;
    }

    private boolean isKeyed() {
        return pointer.kind() == FabricsDataPointer.KEYED
                || pointer.kind() == FabricsDataPointer.KEYED_INVALIDATING;
    }

    boolean isConnect() {
        return command.opcode() == FabricsCommand.OPCODE
                && FabricsCommand.type(command) == FabricsCommand.CONNECT;
    }

    /** Returns the size of the staging buffer that the command needs; 0 if it needs none. */
    int stagedBytes() {
        return isKeyed()
                        && pointer.length() <= HostDataBuffer.MAX_BYTES
                        && (isToHost() || isToController())
                ? pointer.length()
                : 0;
    }

    /** Returns the data that the command can access. */
    MemorySegment data() throws CommandException {
        CommandException.require(command.flags() == FabricsDataPointer.FLAGS, Status.INVALID_FIELD);
        if (isKeyed()) {
            CommandException.require(
                    pointer.length() <= HostDataBuffer.MAX_BYTES, Status.DATA_LENGTH_INVALID);
            return buffer == null
                    ? MemorySegment.NULL
                    : buffer.slice().segment().asSlice(0, pointer.length());
        }
        CommandException.require(
                pointer.kind() == FabricsDataPointer.IN_CAPSULE && isToController(),
                Status.DESCRIPTOR_TYPE_INVALID);
        CommandException.require(
                pointer.address() >= 0 && pointer.address() <= inCapsule.byteSize(),
                Status.DATA_OFFSET_INVALID);
        CommandException.require(
                pointer.length() >= 0
                        && pointer.length() <= inCapsule.byteSize() - pointer.address(),
                Status.DATA_LENGTH_INVALID);
        return inCapsule.asSlice(pointer.address(), pointer.length());
    }
}
