package org.jrdma.sockets.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jrdma.ffi.linkage.SegmentChecks;
import org.jrdma.sockets.internal.NonBlockingTransfer;
import org.jrdma.sockets.internal.Scratch;

/**
 * Transfers bytes between buffers and a {@link NonBlockingTransfer}. If possible, one call
 * transfers the bytes of several buffers.
 *
 * <p>The bytes of a single direct buffer are not copied. Bytes on the heap, and the bytes of
 * several buffers, are copied through native memory, at most {@link Scratch#BYTES} at a time.
 * Several direct buffers are copied too, because a vectored native call receives only their
 * addresses and cannot keep their memory alive.
 */
final class BufferTransfers {

    /**
     * If a direct buffer has at least this number of bytes, it is sent or filled by a call of its
     * own, instead of being copied together with the buffers after it.
     */
    private static final int SINGLE_CALL_BYTES = 16 * 1024;

    private BufferTransfers() {}

    static void requireWritable(ByteBuffer target) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    static void requireWritable(ByteBuffer[] targets, int from, int end) {
        for (var i = from; i < end; i++) {
            requireWritable(targets[i]);
        }
    }

    static void requireWritable(MemorySegment target) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException(
                    "Cannot read into a read-only memory segment: " + target);
        }
    }

    /**
     * Fails if the memory is on the heap, was freed, or belongs to another thread. Without this
     * check, some transports would accept such memory, and others would report it later.
     */
    static void requireNative(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "The memory segment is on the heap, use a ByteBuffer instead: " + memory);
        }
        SegmentChecks.checkAccessible(memory);
    }

    /** Reads into a buffer, which must have space remaining; returns 0 at the end of the stream. */
    static int receive(NonBlockingTransfer transfer, ByteBuffer target) {
        if (target.isDirect()) {
            var count = transfer.receive(MemorySegment.ofBuffer(target), target.remaining());
            advance(target, count);
            return count;
        }
        try (var scratch = Scratch.take()) {
            var length = Math.min(target.remaining(), Scratch.BYTES);
            var count = transfer.receive(scratch.bytes(), length);
            if (count > 0) {
                fill(target, scratch.bytes(), 0, count);
            }
            return count;
        }
    }

    /**
     * Reads into several buffers in order; returns 0 at the end of the stream. At least one buffer
     * must have space remaining.
     */
    static int receive(NonBlockingTransfer transfer, ByteBuffer[] targets, int from, int end) {
        var first = firstWithRemaining(targets, from, end);
        if (needsSingleCall(targets, first, end)) {
            return receive(transfer, targets[first]);
        }
        try (var scratch = Scratch.take()) {
            var length = Math.min(remaining(targets, first, end), Scratch.BYTES);
            var count = transfer.receive(scratch.bytes(), length);
            var filled = 0;
            for (var i = first; filled < count; i++) {
                var part = Math.min(targets[i].remaining(), count - filled);
                fill(targets[i], scratch.bytes(), filled, part);
                filled += part;
            }
            return count;
        }
    }

    /**
     * Writes the remaining bytes of a buffer, or the part of them that fits into the send buffer.
     */
    static int send(NonBlockingTransfer transfer, ByteBuffer source) {
        if (source.isDirect()) {
            var count = transfer.send(MemorySegment.ofBuffer(source), source.remaining());
            advance(source, count);
            return count;
        }
        try (var scratch = Scratch.take()) {
            var length = Math.min(source.remaining(), Scratch.BYTES);
            MemorySegment.copy(MemorySegment.ofBuffer(source), 0, scratch.bytes(), 0, length);
            var count = transfer.send(scratch.bytes(), length);
            advance(source, count);
            return count;
        }
    }

    /** Writes the remaining bytes of several buffers in order, or a part of them. */
    static int send(NonBlockingTransfer transfer, ByteBuffer[] sources, int from, int end) {
        var first = firstWithRemaining(sources, from, end);
        if (needsSingleCall(sources, first, end)) {
            return send(transfer, sources[first]);
        }
        try (var scratch = Scratch.take()) {
            var gathered = 0;
            for (var i = first; i < end && gathered < Scratch.BYTES; i++) {
                var part = Math.min(sources[i].remaining(), Scratch.BYTES - gathered);
                var bytes = MemorySegment.ofBuffer(sources[i]);
                MemorySegment.copy(bytes, 0, scratch.bytes(), gathered, part);
                gathered += part;
            }
            var count = transfer.send(scratch.bytes(), gathered);
            var left = count;
            for (var i = first; left > 0; i++) {
                var part = Math.min(sources[i].remaining(), left);
                advance(sources[i], part);
                left -= part;
            }
            return count;
        }
    }

    /**
     * Writes the remaining bytes of several buffers. If the channel is blocking, waits until all
     * bytes are written.
     *
     * @return the number of bytes written, or a negative errno if no byte was written
     */
    static long sendAll(
            NonBlockingTransfer transfer,
            DirectionGuard direction,
            ByteBuffer[] sources,
            int from,
            int end)
            throws IOException {
        var bytes = remaining(sources, from, end);
        var written = 0L;
        while (written < bytes) {
            int count;
            do {
                count = send(transfer, sources, from, end);
            } while (direction.retry(count));
            if (count < 0) {
                return written > 0 ? written : count;
            }
            written += count;
        }
        return written;
    }

    /** Returns the total number of bytes remaining in the buffers. */
    static long remaining(ByteBuffer[] buffers, int from, int end) {
        var bytes = 0L;
        for (var i = from; i < end; i++) {
            bytes += buffers[i].remaining();
        }
        return bytes;
    }

    private static int firstWithRemaining(ByteBuffer[] buffers, int from, int end) {
        var first = from;
        while (first < end - 1 && !buffers[first].hasRemaining()) {
            first++;
        }
        return first;
    }

    private static boolean needsSingleCall(ByteBuffer[] buffers, int first, int end) {
        return first == end - 1
                || (buffers[first].isDirect() && buffers[first].remaining() >= SINGLE_CALL_BYTES);
    }

    /** Moves the position of a buffer, unless {@code count} is a negative errno. */
    static void advance(ByteBuffer buffer, int count) {
        if (count > 0) {
            buffer.position(buffer.position() + count);
        }
    }

    private static void fill(ByteBuffer target, MemorySegment from, int offset, int count) {
        MemorySegment.copy(from, offset, MemorySegment.ofBuffer(target), 0, count);
        advance(target, count);
    }
}
