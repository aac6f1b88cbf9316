package org.jrdma.volume.metadata;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.function.BiConsumer;

/** Writes values to memory that grows as necessary. {@link Decoder} reads them. */
public final class Encoder {

    private ByteBuffer buffer = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);

    /** Writes the lowest 8 bits. */
    public void writeByte(int value) {
        room(1).put((byte) value);
    }

    /** Writes a truth value. */
    public void writeBoolean(boolean value) {
        writeByte(value ? 1 : 0);
    }

    /** Writes the position of a value in its enum, whose order is part of the format. */
    @SuppressWarnings("EnumOrdinal")
    public void writeEnum(Enum<?> value) {
        writeByte(value.ordinal());
    }

    /** Writes 32 bits. */
    public void writeInt(int value) {
        room(Integer.BYTES).putInt(value);
    }

    /** Writes 64 bits. */
    public void writeLong(long value) {
        room(Long.BYTES).putLong(value);
    }

    /** Writes a number of bytes and the bytes. */
    public void writeBytes(byte[] bytes) {
        writeInt(bytes.length);
        room(bytes.length).put(bytes);
    }

    /** Writes bytes without their number. */
    public void writeAll(byte[] bytes) {
        room(bytes.length).put(bytes);
    }

    /** Writes the UTF-8 form of a text. */
    public void writeText(String text) {
        writeBytes(text.getBytes(UTF_8));
    }

    /** Writes a number of elements and the elements. */
    public <T> void writeList(Collection<T> elements, BiConsumer<Encoder, T> writer) {
        writeInt(elements.size());
        elements.forEach(element -> writer.accept(this, element));
    }

    private ByteBuffer room(int bytes) {
        if (buffer.remaining() < bytes) {
            var larger =
                    ByteBuffer.allocate(
                                    Math.max(
                                            Math.multiplyExact(2, buffer.capacity()),
                                            Math.addExact(buffer.position(), bytes)))
                            .order(ByteOrder.LITTLE_ENDIAN);
            buffer = larger.put(buffer.flip());
        }
        return buffer;
    }

    /** Returns the number of bytes that were written. */
    public int size() {
        return buffer.position();
    }

    /** Returns a copy of the bytes that were written. */
    public byte[] bytes() {
        var bytes = new byte[buffer.position()];
        buffer.get(0, bytes);
        return bytes;
    }
}
