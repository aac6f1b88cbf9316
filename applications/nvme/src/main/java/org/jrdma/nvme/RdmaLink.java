package org.jrdma.nvme;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.ResponseCapsule;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.memory.MemoryRegion;

/**
 * One connection of an I/O queue, on which capsules are sent and responses arrive. Confined to the
 * thread that creates it. Sending and polling do not allocate.
 */
final class RdmaLink {

    private static final long SEND = 1L << 32;
    private static final int AWAITS_SEND = 1;
    private static final int AWAITS_RESPONSE = 2;

    private final MemoryRegion capsules;
    private final MemorySegment responses;
    private final int capsuleBytes;
    private final PreparedSend[] sends;
    private final PreparedReceive[] receives;

    /** The events that each command awaits: the completion of its send, and its response. */
    private final int[] awaited;

    /** The last dword of the response of each command. */
    private final int[] lastDwords;

    private long result;

    /**
     * Posts all receives.
     *
     * @param capsules the memory of a capsule for each command
     * @param responseRegion the memory of as many responses
     */
    RdmaLink(
            PolledQueuePair pair,
            MemoryRegion capsules,
            int capsuleBytes,
            MemoryRegion responseRegion)
            throws FabricException {
        var slots = (int) (capsules.length() / capsuleBytes);
        this.capsules = capsules;
        this.capsuleBytes = capsuleBytes;
        responses = responseRegion.segment();
        sends = new PreparedSend[slots];
        receives = new PreparedReceive[slots];
        awaited = new int[slots];
        lastDwords = new int[slots];
        for (var slot = 0; slot < slots; slot++) {
            receives[slot] =
                    pair.prepareReceive(
                                    responseRegion.slice(
                                            (long) slot * ResponseCapsule.BYTES,
                                            ResponseCapsule.BYTES))
                            .id(slot);
            receive(slot);
            sends[slot] = pair.prepareSend(capsules.slice(0, 0)).id(SEND | slot);
        }
    }

    private void receive(int slot) throws FabricException {
        if (!receives[slot].tryPost()) {
            throw new FabricException("The receive queue is full");
        }
    }

    /** Sends the capsule in a slot. */
    void send(int slot, int bytes) throws FabricException {
        awaited[slot] = AWAITS_SEND | AWAITS_RESPONSE;
        if (!sends[slot].local(capsules, (long) slot * capsuleBytes, bytes).tryPost()) {
            throw new FabricException("The send queue is full");
        }
    }

    /**
     * Takes completions until a command has completed. A command completes when its response has
     * arrived and its capsule can be reused.
     *
     * @return the last dword of the response, or {@link CommandSlots#NOTHING}
     * @throws FabricException if the connection has failed, or the target responds to a command
     *     that was not sent
     */
    long poll(CompletionCursor cursor) throws FabricException {
        if (cursor.poll() == 0) {
            return CommandSlots.NOTHING;
        }
        while (cursor.next()) {
            if (!cursor.isSuccess()) {
                throw failure(cursor);
            }
            var id = cursor.id();
            var slot = (int) id;
            if ((id & SEND) != 0) {
                awaited[slot] &= ~AWAITS_SEND;
            } else {
                slot = respond(slot, cursor.bytes());
            }
            if (awaited[slot] == 0) {
                return Integer.toUnsignedLong(lastDwords[slot]);
            }
        }
        return CommandSlots.NOTHING;
    }

    private static FabricException failure(CompletionCursor cursor) {
        return new FabricException("the connection has failed: " + cursor.status());
    }

    /** Handles a response, and returns the slot of its command. */
    private int respond(int receive, int bytes) throws FabricException {
        var offset = (long) receive * ResponseCapsule.BYTES;
        var last = ResponseCapsule.lastDword(responses, offset);
        var slot = Completion.commandId(last);
        if (bytes != ResponseCapsule.BYTES
                || slot >= awaited.length
                || (awaited[slot] & AWAITS_RESPONSE) == 0) {
            throw unexpected(slot, bytes);
        }
        awaited[slot] &= ~AWAITS_RESPONSE;
        lastDwords[slot] = last;
        if (slot == awaited.length - 1) {
            result = ResponseCapsule.decode(responses, offset).result();
        }
        receive(receive);
        return slot;
    }

    private static FabricException unexpected(int slot, int bytes) {
        return new FabricException(
                "the target has sent a response of %d bytes to the unknown command %d"
                        .formatted(bytes, slot));
    }

    /** Returns the result of the Connect command, which uses the last slot. */
    long connectResult() {
        return result;
    }
}
