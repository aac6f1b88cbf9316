package org.jrdma.sockets;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jrdma.sockets.internal.Scratch;

/**
 * Bytes between a program's buffers and a descriptor, by one system call.
 *
 * <p>A direct buffer's bytes are moved where they are. Those on the heap, and those of several
 * buffers at once, go through native memory, at most {@link Scratch#BYTES} at a time: the memory of
 * several buffers cannot be kept from being freed during a call that knows them by address only.
 */
final class Transfers {

    /** Below this, a direct buffer is copied together with those after it. */
    private static final int WORTH_A_CALL = 16 * 1024;

    private Transfers() {}

    /** A system call that reads or writes: answers the bytes moved, or the negative errno. */
    @FunctionalInterface
    interface Mover {
        int move(int descriptor, MemorySegment memory, long bytes);
    }

    /** Reads into a buffer with room; 0 at the end. */
    static int receive(Mover mover, int descriptor, ByteBuffer target) {
        if (target.isDirect()) {
            var count = mover.move(descriptor, MemorySegment.ofBuffer(target), target.remaining());
            advance(target, count);
            return count;
        }
        try (var scratch = Scratch.take()) {
            var most = Math.min(target.remaining(), Scratch.BYTES);
            var count = mover.move(descriptor, scratch.bytes(), most);
            if (count > 0) {
                fill(target, scratch.bytes(), 0, count);
            }
            return count;
        }
    }

    /** Reads into the buffers one after the other, of which some have room; 0 at the end. */
    static int receive(Mover mover, int descriptor, ByteBuffer[] targets, int from, int end) {
        var first = firstWithRemaining(targets, from, end);
        if (isWorthACall(targets, first, end)) {
            return receive(mover, descriptor, targets[first]);
        }
        try (var scratch = Scratch.take()) {
            var most = Math.min(remaining(targets, first, end), Scratch.BYTES);
            var count = mover.move(descriptor, scratch.bytes(), most);
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
    static int send(Mover mover, int descriptor, ByteBuffer source) {
        if (source.isDirect()) {
            var count = mover.move(descriptor, MemorySegment.ofBuffer(source), source.remaining());
            advance(source, count);
            return count;
        }
        try (var scratch = Scratch.take()) {
            var most = Math.min(source.remaining(), Scratch.BYTES);
            MemorySegment.copy(MemorySegment.ofBuffer(source), 0, scratch.bytes(), 0, most);
            var count = mover.move(descriptor, scratch.bytes(), most);
            advance(source, count);
            return count;
        }
    }

    /** Writes what the buffers have, one after the other, or a part of it. */
    static int send(Mover mover, int descriptor, ByteBuffer[] sources, int from, int end) {
        var first = firstWithRemaining(sources, from, end);
        if (isWorthACall(sources, first, end)) {
            return send(mover, descriptor, sources[first]);
        }
        try (var scratch = Scratch.take()) {
            var gathered = 0;
            for (var i = first; i < end && gathered < Scratch.BYTES; i++) {
                var part = Math.min(sources[i].remaining(), Scratch.BYTES - gathered);
                var bytes = MemorySegment.ofBuffer(sources[i]);
                MemorySegment.copy(bytes, 0, scratch.bytes(), gathered, part);
                gathered += part;
            }
            var count = mover.move(descriptor, scratch.bytes(), gathered);
            var left = count;
            for (var i = first; left > 0; i++) {
                var part = Math.min(sources[i].remaining(), left);
                advance(sources[i], part);
                left -= part;
            }
            return count;
        }
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
