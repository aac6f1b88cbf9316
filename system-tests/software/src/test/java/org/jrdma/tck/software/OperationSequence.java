package org.jrdma.tck.software;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A random sequence of operations that one side executes on its peer, with their expected results.
 * The sequence depends only on the seed, so that both sides can compute it.
 */
final class OperationSequence {

    static final int MTU = 1024;
    static final int LONGEST = 4 * MTU + 104;

    /**
     * The size in bytes of the part of the target memory for reads and writes. The counters for
     * atomic operations follow it.
     */
    static final int WINDOW = 1 << 16;

    /** The number of counters for atomic operations. */
    static final int NUMBERS = 8;

    static final int TARGET_BYTES = WINDOW + NUMBERS * Long.BYTES;

    /** The maximum number of pending operations. */
    static final int DEPTH = 32;

    private static final int[] EDGES = {0, 1, 3, MTU - 1, MTU, MTU + 1, 2 * MTU, 4 * MTU};

    enum Kind {
        SEND,
        SEND_WITH_IMMEDIATE,
        WRITE,
        WRITE_WITH_IMMEDIATE,
        READ,
        FETCH_AND_ADD,
        COMPARE_AND_SWAP;

        boolean takesReceive() {
            return this == SEND || this == SEND_WITH_IMMEDIATE || this == WRITE_WITH_IMMEDIATE;
        }
    }

    /**
     * An operation.
     *
     * @param number the index of the operation in the sequence
     * @param offset the offset in the peer's memory
     * @param bytes the data to send or write, or the data that a read must return
     * @param operand the number to add, or the number to compare with
     * @param replacement the number that a compare-and-swap stores
     * @param former the value that an atomic operation must return
     * @param fenced true if the operation must wait for earlier reads, which might otherwise return
     *     data that this operation writes
     */
    // Equality is not defined: operations are never compared.
    @SuppressWarnings("ArrayRecordComponent")
    record Operation(
            int number,
            Kind kind,
            int offset,
            byte[] bytes,
            long operand,
            long replacement,
            long former,
            boolean fenced) {}

    private final SplittableRandom random;
    private final byte[] window = new byte[WINDOW];
    private final long[] numbers = new long[NUMBERS];
    private final ArrayDeque<Operation> recent = new ArrayDeque<>();
    private int number;

    OperationSequence(long seed) {
        random = new SplittableRandom(seed);
    }

    int number() {
        return number;
    }

    /** Returns the expected content of the remote memory after the operations so far. */
    byte[] window() {
        return window;
    }

    /** Returns the expected values of the remote counters after the operations so far. */
    long[] numbers() {
        return numbers;
    }

    Operation next() {
        var kinds = Kind.values();
        var operation =
                switch (kinds[random.nextInt(kinds.length)]) {
                    case FETCH_AND_ADD -> fetchAndAdd();
                    case COMPARE_AND_SWAP -> compareAndSwap();
                    case READ -> read();
                    case SEND -> send(Kind.SEND);
                    case SEND_WITH_IMMEDIATE -> send(Kind.SEND_WITH_IMMEDIATE);
                    case WRITE -> write(Kind.WRITE);
                    case WRITE_WITH_IMMEDIATE -> write(Kind.WRITE_WITH_IMMEDIATE);
                };
        recent.add(operation);
        if (recent.size() > DEPTH) {
            recent.remove();
        }
        number++;
        return operation;
    }

    private Operation fetchAndAdd() {
        var index = random.nextInt(NUMBERS);
        var former = numbers[index];
        var delta = random.nextLong();
        numbers[index] += delta;
        return atomic(Kind.FETCH_AND_ADD, index, delta, 0, former);
    }

    /** Returns a compare-and-swap. In half of the cases, the comparison succeeds. */
    private Operation compareAndSwap() {
        var index = random.nextInt(NUMBERS);
        var former = numbers[index];
        var expected = former ^ random.nextInt(2);
        var replacement = random.nextLong();
        if (expected == former) {
            numbers[index] = replacement;
        }
        return atomic(Kind.COMPARE_AND_SWAP, index, expected, replacement, former);
    }

    private Operation atomic(Kind kind, int index, long operand, long replacement, long former) {
        return new Operation(
                number,
                kind,
                WINDOW + index * Long.BYTES,
                new byte[Long.BYTES],
                operand,
                replacement,
                former,
                false);
    }

    private Operation read() {
        var length = length();
        var offset = random.nextInt(WINDOW - length);
        var expected = Arrays.copyOfRange(window, offset, offset + length);
        return new Operation(number, Kind.READ, offset, expected, 0, 0, 0, false);
    }

    private Operation send(Kind kind) {
        return new Operation(number, kind, 0, content(), 0, 0, 0, random.nextInt(20) == 0);
    }

    private Operation write(Kind kind) {
        var content = content();
        var offset = random.nextInt(WINDOW - content.length);
        System.arraycopy(content, 0, window, offset, content.length);
        var fenced = recent.stream().anyMatch(earlier -> isRead(earlier, offset, content.length));
        return new Operation(number, kind, offset, content, 0, 0, 0, fenced);
    }

    private static boolean isRead(Operation earlier, int offset, int length) {
        return earlier.kind == Kind.READ
                && earlier.offset < offset + length
                && offset < earlier.offset + earlier.bytes.length;
    }

    private byte[] content() {
        var content = new byte[length()];
        random.nextBytes(content);
        return content;
    }

    private int length() {
        return random.nextBoolean()
                ? EDGES[random.nextInt(EDGES.length)]
                : random.nextInt(LONGEST + 1);
    }
}
