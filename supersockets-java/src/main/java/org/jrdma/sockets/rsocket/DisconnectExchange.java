package org.jrdma.sockets.rsocket;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * The exchange of messages by which the ends of a stream announce an orderly close.
 *
 * <p>rsockets have no such message: a close, and the death of a peer with bytes in flight, look the
 * same. Each end therefore exposes a word of its memory, into which the peer writes its last
 * message after all bytes. If the peer is another implementation and exposes no word, its end
 * counts as an orderly close.
 *
 * <p>Used by one thread at a time, except for {@link #received()}.
 */
final class DisconnectExchange {

    /** The number of words that a peer may expose. */
    static final int EXPOSED_REGIONS = 1;

    /** The message that all bytes were sent. */
    static final long ENDED = 1;

    /** The message that bytes may be missing. */
    static final long RESET = 2;

    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final long OFFSET = 0;

    private final RsocketCalls calls;
    private final int number;

    /** The word that the peer writes, then the message that is sent to the peer. */
    private final MemorySegment words = Arena.ofAuto().allocate(2 * JAVA_LONG.byteSize(), 64);

    private final MemorySegment peerMessage = words.asSlice(0, JAVA_LONG.byteSize());
    private final MemorySegment ownMessage =
            words.asSlice(JAVA_LONG.byteSize(), JAVA_LONG.byteSize());
    private final boolean agreed;
    private long sent;

    /** Prepares the exchange for an rsocket that is connected, or about to be. */
    DisconnectExchange(RsocketCalls calls, int number) {
        this.calls = calls;
        this.number = number;
        agreed = calls.expose(number, peerMessage, OFFSET) >= 0;
        if (agreed) {
            // sends the description of the exposed word, and nothing else
            calls.writeExposed(number, ownMessage, 0, OFFSET);
        }
    }

    boolean agreed() {
        return agreed;
    }

    /** Returns the peer's message; 0 if there is none. */
    long received() {
        return (long) WORD.getAcquire(peerMessage, 0L);
    }

    /** Sends the message of this end; returns false if the send queue is full. */
    boolean send(long word) {
        if (!agreed || sent >= word) {
            return true;
        }
        ownMessage.set(JAVA_LONG, 0, word);
        var result = calls.writeExposed(number, ownMessage, ownMessage.byteSize(), OFFSET);
        if (result > 0) {
            sent = word;
        }
        return result != 0 && result != SocketCalls.AGAIN;
    }

    /** Withdraws the exposed word. Called before the rsocket is closed. */
    void end() {
        try {
            if (agreed) {
                calls.withdraw(number, peerMessage);
            }
        } finally {
            Reference.reachabilityFence(words); // the device may write the words until here
        }
    }
}
