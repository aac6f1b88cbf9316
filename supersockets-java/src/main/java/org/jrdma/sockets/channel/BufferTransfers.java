package org.jrdma.sockets.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jrdma.sockets.internal.ByteMover;
import org.jrdma.sockets.internal.Scratch;

/**
 * Moves bytes between a program's buffers and a stream by one call.
 *
 * <p>A direct buffer's bytes are moved where they are. Those on the heap, and those of several
 * buffers at once, go through native memory, at most {@link Scratch#BYTES} at a time: the memory of
 * several buffers cannot be kept from being freed during a call that knows them by address only.
 */
final class BufferTransfers {

    /** Below this, a direct buffer is copied together with those after it. */
    private static final int WORTH_A_CALL = 16 * 1024;

    private BufferTransfers() {}

    static void refuseReadOnly(ByteBuffer target) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
    }

    static void refuseReadOnly(MemorySegment target) {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("It is read-only: " + target);
        }
    }

    /** Refuses memory that some transports would accept, and others would report late. */
    static void refuseHeap(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("It is on the heap, use a ByteBuffer: " + memory);
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("Already closed: " + memory);
        }
    }

    /** Reads into a buffer with room; 0 at the end. */
    static int receive(ByteMover mover, ByteBuffer target) {
        if (target.isDirect()) {
            var count = mover.receive(MemorySegment.ofBuffer(target), target.remaining());
            advance(target, count);
            return count;
        }
        try (var scratch = Scratch.take()) {
            var most = Math.min(target.remaining(), Scratch.BYTES);
            var count = mover.receive(scratch.bytes(), most);
            if (count > 0) {
                fill(target, scratch.bytes(), 0, count);
            }
            return count;
        }
    }

    /** Reads into the buffers one after the other, of which some have room; 0 at the end. */
    static int receive(ByteMover mover, ByteBuffer[] targets, int from, int end) {
        var first = firstWithRemaining(targets, from, end);
        if (isWorthACall(targets, first, end)) {
            return receive(mover, targets[first]);
        }
        try (var scratch = Scratch.take()) {
            var most = Math.min(remaining(targets, first, end), Scratch.BYTES);
            var count = mover.receive(scratch.bytes(), most);
            var done = 0;
            for (var i = first; done < count; i++) {
                var part = Math.min(targets[i].remaining(), count - done);
                fill(targets[i], scratch.bytes(), done, part);
                done += part;
            }
            return count;
        }
    }

    /** Writes what a buffer has, or a part of it. */
    static int send(ByteMover mover, ByteBuffer source) {
        if (source.isDirect()) {
            var count = mover.send(MemorySegment.ofBuffer(source), source.remaining());
            advance(source, count);
            return count;
        }
        try (var scratch = Scratch.take()) {
            var most = Math.min(source.remaining(), Scratch.BYTES);
            MemorySegment.copy(MemorySegment.ofBuffer(source), 0, scratch.bytes(), 0, most);
            var count = mover.send(scratch.bytes(), most);
            advance(source, count);
            return count;
        }
    }

    /** Writes what the buffers have, one after the other, or a part of it. */
    static int send(ByteMover mover, ByteBuffer[] sources, int from, int end) {
        var first = firstWithRemaining(sources, from, end);
        if (isWorthACall(sources, first, end)) {
            return send(mover, sources[first]);
        }
        try (var scratch = Scratch.take()) {
            var gathered = 0;
            for (var i = first; i < end && gathered < Scratch.BYTES; i++) {
                var part = Math.min(sources[i].remaining(), Scratch.BYTES - gathered);
                var bytes = MemorySegment.ofBuffer(sources[i]);
                MemorySegment.copy(bytes, 0, scratch.bytes(), gathered, part);
                gathered += part;
            }
            var count = mover.send(scratch.bytes(), gathered);
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
     * Writes what the buffers have, and waits for room if the channel blocks.
     *
     * @return the bytes written, or a negative errno if there are none
     */
    static long sendAll(
            ByteMover mover, Direction direction, ByteBuffer[] sources, int from, int end)
            throws IOException {
        var bytes = remaining(sources, from, end);
        var done = 0L;
        while (done < bytes) {
            int count;
            do {
                count = send(mover, sources, from, end);
            } while (direction.retry(count));
            if (count < 0) {
                return done > 0 ? done : count;
            }
            done += count;
        }
        return done;
    }

    /** How much the buffers have, or have room for. */
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

    private static boolean isWorthACall(ByteBuffer[] buffers, int first, int end) {
        return first == end - 1
                || (buffers[first].isDirect() && buffers[first].remaining() >= WORTH_A_CALL);
    }

    private static void advance(ByteBuffer buffer, int count) {
        if (count > 0) {
            buffer.position(buffer.position() + count);
        }
    }

    private static void fill(ByteBuffer target, MemorySegment from, int offset, int count) {
        MemorySegment.copy(from, offset, MemorySegment.ofBuffer(target), 0, count);
        advance(target, count);
    }
}
