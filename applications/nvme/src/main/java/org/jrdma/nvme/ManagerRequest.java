package org.jrdma.nvme;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A request of a client to the {@link SharedControllerManager}: a record of 32 bytes in big-endian
 * order. The fields are a magic number, the operation, two operands of 32 bits, and two of 64 bits.
 * Operands that an operation does not use are zero.
 */
sealed interface ManagerRequest {

    /** The size of the record in bytes. */
    int BYTES = 32;

    /** The first field, which identifies the protocol and its version. */
    int MAGIC = 0x4e56_4d01;

    /** Reads a page of data. */
    record ReadPage(AdminPageKind page, int namespace) implements ManagerRequest {}

    /** Creates a queue pair in memory of the client. The reply has the id of the queue pair. */
    record CreateQueue(QueueMemory memory) implements ManagerRequest {}

    /** Deletes a queue pair of the client. */
    record DeleteQueue(int id) implements ManagerRequest {}

    /** Deletes all queue pairs of the client. */
    record DeleteAllQueues() implements ManagerRequest {}

    /** Encodes this request. */
    default void encode(ByteBuffer target) {
        switch (this) {
            case ReadPage(var page, var namespace) ->
                    encode(target, 1, page.code(), namespace, 0, 0);
            case CreateQueue(var memory) ->
                    encode(
                            target,
                            2,
                            memory.submissionEntries(),
                            memory.completionEntries(),
                            memory.submissionAddress(),
                            memory.completionAddress());
            case DeleteQueue(var id) -> encode(target, 3, id, 0, 0, 0);
            case DeleteAllQueues() -> encode(target, 4, 0, 0, 0, 0);
        }
    }

    private static void encode(
            ByteBuffer target, int operation, int first, int second, long third, long fourth) {
        target.putInt(MAGIC).putInt(operation).putInt(first).putInt(second);
        target.putLong(third).putLong(fourth);
    }

    private static @Nullable ManagerRequest readPage(@Nullable AdminPageKind page, int namespace) {
        return page == null ? null : new ReadPage(page, namespace);
    }

    /** Decodes a request. Returns null if the record is malformed. */
    static @Nullable ManagerRequest decode(ByteBuffer source) {
        var magic = source.getInt();
        var operation = source.getInt();
        var first = source.getInt();
        var second = source.getInt();
        var third = source.getLong();
        var fourth = source.getLong();
        var request =
                switch (operation) {
                    case 1 -> readPage(AdminPageKind.of(first), second);
                    case 2 -> new CreateQueue(new QueueMemory(third, first, fourth, second));
                    case 3 -> second == 0 ? new DeleteQueue(first) : null;
                    case 4 -> first == 0 && second == 0 ? new DeleteAllQueues() : null;
                    default -> null;
                };
        var usesAddresses = operation == 2;
        return magic == MAGIC && (usesAddresses || (third | fourth) == 0) ? request : null;
    }
}
