package org.jrdma.sockets.rsocket;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * How the ends of a stream tell each other that it has ended as it should, which rsockets
 * themselves do not: their end looks the same whether the peer has closed or was killed with bytes
 * on their way. Each end shows the other a word of its memory, and gets its peer's last word there,
 * behind all bytes. A peer that is no end of ours shows none, and its end is taken for a good one.
 *
 * <p>Used by one thread at a time, but for {@link #heard()}.
 */
final class DisconnectExchange {

    /** How many pieces of memory a peer may show. */
    static final int PIECES = 1;

    /** Whatever was sent before, that was all. */
    static final long ENDED = 1;

    /** It was not. */
    static final long RESET = 2;

    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final long OFFSET = 0;

    private final RsocketCalls calls;
    private final int number;

    /** What the peer writes to, then what is written to the peer. */
    private final MemorySegment words = Arena.ofAuto().allocate(2 * JAVA_LONG.byteSize(), 64);

    private final MemorySegment theirs = words.asSlice(0, JAVA_LONG.byteSize());
    private final MemorySegment ours = words.asSlice(JAVA_LONG.byteSize(), JAVA_LONG.byteSize());
    private final boolean agreed;
    private long said;

    /** For an rsocket that is connected, or about to be. */
    DisconnectExchange(RsocketCalls calls, int number) {
        this.calls = calls;
        this.number = number;
        agreed = calls.show(number, theirs, OFFSET) >= 0;
        if (agreed) {
            calls.writeShown(number, ours, 0, OFFSET); // sends what is shown, and nothing else
        }
    }

    /** Whether the peer says farewell. */
    boolean agreed() {
        return agreed;
    }

    /** The peer's last word; 0 if it has said none. */
    long heard() {
        return (long) WORD.getAcquire(theirs, 0L);
    }

    /** Says this end's last word; false if there is no room for it now. */
    boolean say(long word) {
        if (!agreed || said >= word) {
            return true;
        }
        ours.set(JAVA_LONG, 0, word);
        var result = calls.writeShown(number, ours, ours.byteSize(), OFFSET);
        if (result > 0) {
            said = word;
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
