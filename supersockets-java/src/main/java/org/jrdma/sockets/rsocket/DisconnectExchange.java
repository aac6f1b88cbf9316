package org.jrdma.sockets.rsocket;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * The messages by which the ends of a stream announce an orderly close. rsockets have none: a close
 * and the death of a peer with bytes in flight look the same. Each end exposes a word of its
 * memory, in which the peer stores its last message behind all bytes. A peer that is not of this
 * module exposes no word, and its end counts as a close in order.
 *
 * <p>Used by one thread at a time, except for {@link #received()}.
 */
final class DisconnectExchange {

    /** The number of words that a peer may expose. */
    static final int PIECES = 1;

    /** All bytes were sent. */
    static final long ENDED = 1;

    /** Bytes may be missing. */
    static final long RESET = 2;

    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final long OFFSET = 0;

    private final RsocketCalls calls;
    private final int number;

    /** The word for the peer, then the message for the peer. */
    private final MemorySegment words = Arena.ofAuto().allocate(2 * JAVA_LONG.byteSize(), 64);

    private final MemorySegment theirs = words.asSlice(0, JAVA_LONG.byteSize());
    private final MemorySegment ours = words.asSlice(JAVA_LONG.byteSize(), JAVA_LONG.byteSize());
    private final boolean agreed;
    private long sent;

    /** For an rsocket that is connected, or about to be. */
    DisconnectExchange(RsocketCalls calls, int number) {
        this.calls = calls;
        this.number = number;
        agreed = calls.show(number, theirs, OFFSET) >= 0;
        if (agreed) {
            calls.writeShown(number, ours, 0, OFFSET); // sends what is shown, and nothing else
        }
    }

    /** Whether both ends take part. */
    boolean agreed() {
        return agreed;
    }

    /** The peer's message; 0 if there is none. */
    long received() {
        return (long) WORD.getAcquire(theirs, 0L);
    }

    /** Sends the message of this end; returns false if there is no room for it now. */
    boolean send(long word) {
        if (!agreed || sent >= word) {
            return true;
        }
        ours.set(JAVA_LONG, 0, word);
        var result = calls.writeShown(number, ours, ours.byteSize(), OFFSET);
        if (result > 0) {
            sent = word;
        }
        return result != 0 && result != SocketCalls.AGAIN;
    }

    /** Before the rsocket is closed. */
    void end() {
        try {
            if (agreed) {
                calls.hide(number, theirs);
            }
        } finally {
            Reference.reachabilityFence(words); // the device knows them until now
        }
    }
}
