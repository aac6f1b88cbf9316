package org.jrdma.nvme.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The encoding of fields in memory: little-endian numbers, and ASCII text padded by spaces. */
final class Fields {

    static final ValueLayout.OfShort SHORT =
            JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Fields() {}

    static int unsignedByte(MemorySegment memory, long offset) {
        return Byte.toUnsignedInt(memory.get(JAVA_BYTE, offset));
    }

    static int unsignedShort(MemorySegment memory, long offset) {
        return Short.toUnsignedInt(memory.get(SHORT, offset));
    }

    static void putByte(MemorySegment memory, long offset, int value) {
        memory.set(JAVA_BYTE, offset, (byte) value);
    }

    static void putShort(MemorySegment memory, long offset, int value) {
        memory.set(SHORT, offset, (short) value);
    }

    /** Returns text without the spaces and zero bytes around it. Replaces other control codes. */
    static String text(MemorySegment memory, long offset, int bytes) {
        var text = new String(memory.asSlice(offset, bytes).toArray(JAVA_BYTE), US_ASCII);
        return text.replace('\0', ' ').strip().replaceAll("\\p{Cntrl}", "?");
    }

    static void putText(MemorySegment memory, long offset, int bytes, String text) {
        var encoded = text.getBytes(US_ASCII);
        if (encoded.length > bytes) {
            throw new IllegalArgumentException(
                    "The text \"%s\" is longer than %d bytes".formatted(text, bytes));
        }
        memory.asSlice(offset, bytes).fill((byte) ' ');
        MemorySegment.copy(encoded, 0, memory, JAVA_BYTE, offset, encoded.length);
    }
}
