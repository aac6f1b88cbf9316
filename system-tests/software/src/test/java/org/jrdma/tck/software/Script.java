package org.jrdma.tck.software;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.SplittableRandom;

/** The operations of one side on the other, and their results. Depends only on the seed. */
final class Script {

    static final int MTU = 1024;
    static final int LONGEST = 4 * MTU + 104;

    /** The size of the area for reads and writes. The numbers for atomics follow it. */
    static final int WINDOW = 1 << 16;

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
     * @param offset the offset in the other side's memory
     * @param bytes the data to send or write, or the expected data of a read
     * @param operand the number to add or to compare with
     * @param replacement the number to swap in
     * @param former the number that an atomic must find
     * @param fenced true if the operation must wait for reads, which otherwise could see later
     *     writes
     */
    @SuppressWarnings("ArrayRecordComponent") // operations are never compared
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

    Script(long seed) {
        random = new SplittableRandom(seed);
    }

    int number() {
        return number;
    }

    /** Returns the content of the other side's memory after the operations so far. */
    byte[] window() {
        return window;
    }

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

    /** Makes a compare-and-swap. Half of them find the expected number. */
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
