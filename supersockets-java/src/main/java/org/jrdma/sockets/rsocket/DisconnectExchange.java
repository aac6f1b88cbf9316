package org.jrdma.sockets.rsocket;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * The exchange of messages by which the two ends of a stream announce an orderly close.
 *
 * <p>rsockets have no such message: the peer cannot distinguish a close from the death of the
 * process with bytes in flight. Each end therefore exposes a word of its memory ({@code riomap}).
 * After all of its bytes, the peer writes its last message into that word. If the peer is another
 * implementation and exposes no word, a disconnect by the peer counts as an orderly close.
 *
 * <p>Used by one thread at a time, except for {@link #received()}.
 */
final class DisconnectExchange {

    /** The number of memory regions that the peer of an rsocket may expose: one, for the word. */
    static final int EXPOSED_REGIONS = 1;

    /** The message of an orderly close: all bytes were sent. */
    static final long ENDED = 1;

    /** The message of a reset: sent bytes may be lost. */
    static final long RESET = 2;

    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final long OFFSET = 0;

    private final RsocketCalls calls;
    private final int number;

    /**
     * Two words: the one into which the peer writes its message, and the message of this end, from
     * which the library sends it.
     */
    private final MemorySegment words = Arena.ofAuto().allocate(2 * JAVA_LONG.byteSize(), 64);

    private final MemorySegment peerMessage = words.asSlice(0, JAVA_LONG.byteSize());
    private final MemorySegment ownMessage =
            words.asSlice(JAVA_LONG.byteSize(), JAVA_LONG.byteSize());
    private final boolean agreed;
    private long sent;

    /** Exposes a word to the peer of an rsocket that is connected or being connected. */
    DisconnectExchange(RsocketCalls calls, int number) {
        this.calls = calls;
        this.number = number;
        agreed = calls.expose(number, peerMessage, OFFSET) >= 0;
        if (agreed) {
            // Writing 0 bytes also sends the description of the exposed word to the peer.
            calls.writeExposed(number, ownMessage, 0, OFFSET);
        }
    }

    /** Returns true if the word is exposed. Only then can the ends exchange messages. */
    boolean agreed() {
        return agreed;
    }

    /**
     * Returns the message that the peer has sent, {@link #ENDED} or {@link #RESET}; 0 if there is
     * none.
     */
    long received() {
        return (long) WORD.getAcquire(peerMessage, 0L);
    }

    /**
     * Sends a message to the peer, unless a message with the same or a greater number was sent
     * before.
     *
     * @param word {@link #ENDED} or {@link #RESET}
     * @return false if the message must be sent again later, because the send queue is full or the
     *     description of the remote word has not arrived
     */
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

    /** Ends the exposure of the word ({@code riounmap}). Called before the rsocket is closed. */
    void end() {
        try {
            if (agreed) {
                calls.withdraw(number, peerMessage);
            }
        } finally {
            Reference.reachabilityFence(words); // The device may access the words until this point.
        }
    }
}
