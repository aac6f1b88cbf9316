package org.jrdma.volume.metadata;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** Reads the values that an {@link Encoder} has written. Rejects malformed input. */
public final class Decoder {

    private final ByteBuffer buffer;

    /** Reads the remaining bytes of a buffer, whose position does not change. */
    public Decoder(ByteBuffer buffer) {
        this.buffer = buffer.slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Reads bytes. */
    public Decoder(byte[] bytes) {
        this(ByteBuffer.wrap(bytes));
    }

    /** Reads an unsigned byte. */
    public int readByte() throws VolumeException {
        require(1);
        return Byte.toUnsignedInt(buffer.get());
    }

    /** Reads a truth value. */
    public boolean readBoolean() throws VolumeException {
        return readBelow(2, "truth value") == 1;
    }

    /**
     * Reads an unsigned byte that is less than a limit.
     *
     * @param name the name of the value for the exception
     */
    private int readBelow(int limit, String name) throws VolumeException {
        var value = readByte();
        if (value >= limit) {
            throw malformed("%s %d. It must be less than %d.".formatted(name, value, limit));
        }
        return value;
    }

    /**
     * Reads a value of an enum.
     *
     * @param values all values in the order of the enum
     */
    public <E extends Enum<E>> E readEnum(E[] values) throws VolumeException {
        return values[readBelow(values.length, "a choice")];
    }

    /** Reads 32 bits. */
    public int readInt() throws VolumeException {
        require(Integer.BYTES);
        return buffer.getInt();
    }

    /** Reads 64 bits. */
    public long readLong() throws VolumeException {
        require(Long.BYTES);
        return buffer.getLong();
    }

    /**
     * Reads a number of 64 bits that is not negative.
     *
     * @param name the name of the value for the exception
     */
    public long readCount(String name) throws VolumeException {
        var value = readLong();
        if (value < 0) {
            throw malformed("%s %d. It must not be negative.".formatted(name, value));
        }
        return value;
    }

    /** Reads bytes with their number, which must not exceed a limit. */
    public byte[] readBytes(int limit) throws VolumeException {
        var length = readLength(limit);
        require(length);
        var bytes = new byte[length];
        buffer.get(bytes);
        return bytes;
    }

    /** Reads a text whose UTF-8 form must not exceed a number of bytes. */
    public String readText(int limit) throws VolumeException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(readBytes(limit)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw malformed("a text that is not UTF-8");
        }
    }

    /** Reads one element of a list. */
    @FunctionalInterface
    public interface Reader<T> {
        /** Reads an element. */
        T read(Decoder decoder) throws VolumeException;
    }

    /** Reads elements with their number, which must not exceed a limit. */
    public <T> List<T> readList(int limit, Reader<T> reader) throws VolumeException {
        var size = readLength(limit);
        require(size); // an element has at least one byte
        var list = new ArrayList<T>(size);
        for (var i = 0; i < size; i++) {
            list.add(reader.read(this));
        }
        return list;
    }

    private int readLength(int limit) throws VolumeException {
        var length = readInt();
        if (length < 0 || length > limit) {
            throw malformed("length %d. It must be from 0 to %d.".formatted(length, limit));
        }
        return length;
    }

    /** Returns the number of bytes that were not read. */
    public int remaining() {
        return buffer.remaining();
    }

    /** Returns a decoder of the remaining bytes. */
    public Decoder rest() {
        return new Decoder(buffer);
    }

    /** Checks that all bytes were read. */
    public void end() throws VolumeException {
        if (buffer.hasRemaining()) {
            throw malformed("%d more bytes than expected".formatted(buffer.remaining()));
        }
    }

    private void require(int bytes) throws VolumeException {
        if (buffer.remaining() < bytes) {
            throw malformed("%d bytes instead of %d".formatted(buffer.remaining(), bytes));
        }
    }

    private VolumeException malformed(String content) {
        return new VolumeException(
                Failure.MALFORMED,
                "Malformed data: at byte %d of %d, they contain %s"
                        .formatted(buffer.position(), buffer.limit(), content));
    }
}
