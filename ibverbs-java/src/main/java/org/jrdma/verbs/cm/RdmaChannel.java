package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.channel.ChannelParameters;
import org.jrdma.verbs.cm.channel.InvalidMessageException;
import org.jrdma.verbs.cm.channel.MessageRings;
import org.jrdma.verbs.cm.channel.RemoteOperations;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A connection for messages, which arrive in order and once each, and for reads and writes of
 * memory that the peer has announced.
 *
 * <p>Flow control is by credits: neither side sends a message for which the other has no receive. A
 * message that cannot be sent now is reported as a value, and only {@link #await} waits:
 *
 * <pre>{@code
 * while (!channel.trySend(message)) {
 *     if (channel.await(handler, ofSeconds(10)) == RdmaChannel.WaitResult.TIMED_OUT) {
 *         throw new IOException("The peer handles no messages.");
 *     }
 * }
 * }</pre>
 *
 * <p>When the channel has ended, everything that arrived before is still handled; then each method
 * throws {@link ChannelClosedException}, and {@link #end()} returns how the channel ended. A peer
 * that disconnects or closes the channel ends it immediately. A peer that dies without notice is
 * detected by a side that sends, when the retransmissions are exhausted; see {@link
 * RdmaChannelOptions#acknowledgeTimeout}. A side that only receives must send now and then to
 * detect it.
 *
 * <p>A channel belongs to the thread that created it; other threads get WrongThreadException,
 * except from {@link #close()} and {@link #end()}. Both sides must poll or await: a side that does
 * not handle messages blocks the other. In the steady state nothing is allocated.
 */
public final class RdmaChannel implements AutoCloseable {

    /** Handles messages that have arrived, and operations that have completed. */
    public interface Handler {

        /**
         * Handles a message. May send, but not poll or await.
         *
         * @param buffer memory that starts with the message, and is reused after this method
         *     returns
         * @param length the length of the message in bytes
         */
        void message(MemorySegment buffer, long length);

        /** Handles the completion of a read or a write. */
        default void done(long id) {}
    }

    /** The reason for which {@link #await} has returned. */
    public enum WaitResult {
        /** At least one message, read or write was handled. */
        HANDLED,
        /** Nothing was handled, but more messages can be sent than before. */
        SEND_ROOM,
        /** The deadline passed. The channel is open, and the peer may be idle or busy. */
        TIMED_OUT
    }

    private static final int MAX_BATCH = 64;

    private final Thread owner = Thread.currentThread();
    private final Connection<PolledQueuePair> connection;
    private final MessageRings rings;
    private final RemoteOperations operations;
    private final PrivateData privateData;
    private final CompletionCursor cursor;
    private final Runnable queuePairClosed;
    private final int maxMessageBytes;
    private final ChannelEnding ending;

    private boolean claimed;
    private boolean handling;

    /**
     * Starts the channel on a connection.
     *
     * @param received the private data that the peer sent, with its channel parameters
     * @param asInitiator whether this side has connected, not accepted
     */
    RdmaChannel(
            ProtectionDomain domain,
            Connection<PolledQueuePair> connection,
            PrivateData received,
            boolean asInitiator,
            ChannelParameters peer,
            MessageRings rings,
            RemoteOperations operations)
            throws VerbsException {
        this.connection = connection;
        this.rings = rings;
        this.operations = operations;
        this.privateData = ChannelParameters.programData(received);
        var completions = rings.completions();
        this.ending = new ChannelEnding(toString(), domain, connection, completions);
        // Wakes up a thread that waits for completions if the protection domain is closed.
        this.queuePairClosed = () -> PlatformCalls.start(completions::close);
        this.cursor = completions.newCursor(Math.min(MAX_BATCH, rings.capacity()));
        this.maxMessageBytes = Math.min(rings.parameters().messageBytes(), peer.messageBytes());
        rings.start(connection.queuePair(), peer, connection.isWarp() && !asInitiator);
        if (connection.isWarp() && asInitiator) {
            rings.sendFirstHeader();
        }
        connection.queuePair().onClose(queuePairClosed);
    }

    /**
     * Connects to a peer that accepts a channel.
     *
     * @param domain the protection domain, whose device the channel uses
     * @throws IllegalArgumentException if the private data is too long
     * @throws CmException if there is no path to the peer, or the peer rejects the channel
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public static RdmaChannel connect(
            ConnectionManager connections,
            InetSocketAddress peer,
            ProtectionDomain domain,
            RdmaChannelOptions options,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        return ChannelOpening.connect(connections, peer, domain, options, timeout);
    }

    /**
     * Accepts the request of a peer for a channel, and rejects any other request. On iWARP nothing
     * can be sent until the peer's first header has arrived, which the peer sends by itself. The
     * request is closed in any case.
     *
     * @param domain a protection domain of the request's device
     * @throws IllegalArgumentException if the private data is too long
     * @throws VerbsException if the request is not for a channel
     * @throws CmException if the peer has given up
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public static RdmaChannel accept(
            ConnectionRequest request,
            ProtectionDomain domain,
            RdmaChannelOptions options,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        return ChannelOpening.accept(request, domain, options, timeout);
    }

    /**
     * The underlying connection, which the channel owns. Requests that the program posts to its
     * queue pair take room that the channel relies on.
     */
    public Connection<PolledQueuePair> connection() {
        return connection;
    }

    /**
     * The private data that the peer's program sent when it connected or accepted, with padding;
     * see {@link RdmaChannelOptions#privateData}.
     */
    public PrivateData privateData() {
        return privateData;
    }

    /**
     * The private data of a request, before it is accepted.
     *
     * @return empty if the request is not for a channel
     */
    public static Optional<PrivateData> privateData(ConnectionRequest request) {
        var all = request.privateData();
        return ChannelParameters.decode(all).map(_ -> ChannelParameters.programData(all));
    }

    /**
     * The end of this channel, or empty while the channel can be used. An end on the peer's side is
     * visible here once {@link #poll} or {@link #await} has reached it. May be called by any
     * thread.
     */
    public Optional<ChannelEnd> end() {
        return ending.end();
    }

    /** The length of the longest message that can be sent. */
    public int maxMessageBytes() {
        return maxMessageBytes;
    }

    /** The number of messages that can be sent now. */
    public int freeMessages() {
        checkThread();
        return rings.freeMessages();
    }

    /**
     * Sends a copy of a message, if the peer has room.
     *
     * @return false if the peer has no room: call {@link #await} or {@link #poll}, and try again
     * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes()}
     * @throws IllegalStateException if a message is claimed, which would be overwritten
     * @throws ChannelClosedException if the channel has ended
     */
    public boolean trySend(MemorySegment message) throws VerbsException {
        checkThread();
        checkLength(message.byteSize());
        if (claimed) {
            throw new IllegalStateException("A message is claimed: send() that first");
        }
        var buffer = tryClaim();
        if (buffer == null) {
            return false;
        }
        MemorySegment.copy(message, 0, buffer, 0, message.byteSize());
        send(message.byteSize());
        return true;
    }

    /**
     * Returns memory for the next message, from which {@link #send} sends it without a copy.
     * Returns the same memory until then.
     *
     * @return null if the peer has no room: call {@link #await} or {@link #poll}, and try again
     * @throws ChannelClosedException if the channel has ended
     */
    public @Nullable MemorySegment tryClaim() throws VerbsException {
        checkThread();
        ending.check();
        if (!claimed && rings.freeMessages() <= 0) {
            return null;
        }
        claimed = true;
        return rings.nextMessage();
    }

    /**
     * Sends the message that was written into the memory of {@link #tryClaim}.
     *
     * @param bytes the length of the message
     * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes()}
     * @throws IllegalStateException if no message was claimed
     * @throws ChannelClosedException if the channel has ended
     */
    public void send(long bytes) throws VerbsException {
        checkThread();
        checkLength(bytes);
        if (!claimed) {
            throw new IllegalStateException("No message was claimed");
        }
        ending.check();
        claimed = false;
        try {
            rings.send(bytes);
        } catch (VerbsException e) {
            throw ending.failed(
                    e); // some devices have posted the request that they report as failed
        } catch (IllegalStateException e) {
            throw ending.explained(e);
        }
    }

    private void checkLength(long bytes) {
        if (bytes < 0 || bytes > maxMessageBytes) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A message has %,d bytes at most, not %,d",
                            maxMessageBytes,
                            bytes));
        }
    }

    /**
     * Starts to write memory that the peer has announced, from memory that must not change until
     * the write has completed. The peer is not notified; a message that is sent afterwards arrives
     * after the written data.
     *
     * @param id the identifier that {@link Handler#done} gets
     * @return false if the maximum of operations is in flight: call {@link #await} or {@link #poll}
     * @throws IndexOutOfBoundsException if the peer's memory is shorter
     * @throws ChannelClosedException if the channel has ended
     */
    public boolean tryWriteRemote(MemorySlice local, RemoteMemory remote, long id)
            throws VerbsException {
        checkThread();
        ending.check();
        try {
            return rings.isStarted() && operations.tryWrite(local, remote, id);
        } catch (IllegalStateException e) {
            throw ending.explained(e);
        }
    }

    /**
     * Starts to read memory that the peer has announced, into memory that must not be used until
     * the read has completed.
     *
     * @param id the identifier that {@link Handler#done} gets
     * @return false if the maximum of operations is in flight: call {@link #await} or {@link #poll}
     * @throws IndexOutOfBoundsException if the peer's memory is shorter
     * @throws ChannelClosedException if the channel has ended
     */
    public boolean tryReadRemote(MemorySlice local, RemoteMemory remote, long id)
            throws VerbsException {
        checkThread();
        ending.check();
        try {
            return rings.isStarted() && operations.tryRead(local, remote, id);
        } catch (IllegalStateException e) {
            throw ending.explained(e);
        }
    }

    /**
     * Handles the messages that have arrived and the operations that have completed. Does not wait.
     *
     * @return the number of messages, reads and writes that were handled
     * @throws ChannelClosedException if the channel has ended, and there is nothing left to handle
     * @throws IllegalStateException if the protection domain or the device is closed
     */
    public int poll(Handler handler) throws VerbsException {
        checkThread();
        refuseIfHandling();
        try {
            cursor.poll();
        } catch (IllegalStateException e) {
            throw ending.explained(e);
        }
        return handle(handler);
    }

    /**
     * Waits until there is something to handle or room to send, and handles what there is. A result
     * other than {@link WaitResult#TIMED_OUT} does not mean that a message has arrived: a program
     * that waits for a certain message calls this method until that message was handled.
     *
     * @throws ChannelClosedException if the channel has ended, also by {@link #close()} during the
     *     wait, and there is nothing left to handle
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the protection domain or the device is or becomes closed
     */
    public WaitResult await(Handler handler, Duration timeout)
            throws FabricException, InterruptedIOException {
        checkThread();
        refuseIfHandling();
        var deadline = Deadline.after(timeout);
        var roomBefore = rings.freeMessages();
        do {
            if (ending.isKnown()) { // no more completions arrive
                poll(handler); // throws if there is nothing left to handle
                return WaitResult.HANDLED;
            }
            try {
                cursor.await(Duration.ofNanos(deadline.remainingNanos()));
            } catch (IllegalStateException e) {
                throw ending.explained(e);
            }
            if (handle(handler) > 0) {
                return WaitResult.HANDLED;
            }
            if (rings.freeMessages() > roomBefore) {
                return WaitResult.SEND_ROOM;
            }
        } while (!deadline.hasPassed());
        return WaitResult.TIMED_OUT;
    }

    private int handle(Handler handler) throws VerbsException {
        var handled = 0;
        handling = true;
        try {
            while (hasNext()) {
                if (!cursor.isSuccess()) {
                    ending.fail(cursor.status());
                } else if (handle(cursor.id(), handler)) {
                    handled++;
                }
            }
        } finally {
            handling = false;
        }
        if (handled == 0) {
            ending.check();
        }
        return handled;
    }

    private boolean hasNext() throws ChannelClosedException {
        try {
            return cursor.next();
        } catch (IllegalStateException e) {
            throw ending.explained(e);
        }
    }

    /** Handles a completion, and returns whether it counts as handled for the program. */
    private boolean handle(long id, Handler handler) throws VerbsException {
        if (MessageRings.isReceive(id)) {
            return handleReceived(MessageRings.slot(id), handler);
        }
        if (MessageRings.isOperation(id)) {
            handler.done(operations.complete(MessageRings.slot(id)));
            return true;
        }
        try {
            rings.sent(id, !ending.isKnown());
        } catch (VerbsException e) {
            throw ending.failed(e);
        } catch (IllegalStateException e) {
            throw ending.explained(e);
        }
        return false;
    }

    private boolean handleReceived(int slot, Handler handler) throws VerbsException {
        boolean isMessage;
        try {
            isMessage = rings.received(slot, cursor.bytes());
        } catch (InvalidMessageException e) {
            throw ending.ended(new ChannelEnd(ChannelEnd.Cause.PROTOCOL_ERROR, e.getMessage()), e);
        } catch (IllegalStateException e) {
            throw ending.explained(e);
        }
        var done = false;
        try {
            if (isMessage) {
                handler.message(rings.message(slot), MessageRings.length(cursor.bytes()));
            }
            done = true;
        } finally {
            release(slot, isMessage, done);
        }
        return isMessage;
    }

    /**
     * @param done whether the handler has returned; otherwise its exception is the one to throw
     */
    private void release(int slot, boolean isMessage, boolean done) throws VerbsException {
        try {
            rings.handled(slot, isMessage, !ending.isKnown());
        } catch (VerbsException e) {
            var failure = ending.failed(e);
            if (done) {
                throw failure;
            }
        } catch (IllegalStateException e) {
            if (done) {
                throw ending.explained(e);
            }
        }
    }

    private void checkThread() {
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException("%s belongs to %s".formatted(this, owner));
        }
    }

    private void refuseIfHandling() {
        if (handling) {
            throw new IllegalStateException("A handler cannot poll the channel that calls it");
        }
    }

    /**
     * Ends the channel and its connection. Requests in flight are cancelled, and messages that the
     * peer has not handled may be lost. Wakes up a thread that waits in {@link #await}. Does not
     * wait for the peer. May be called by any thread.
     */
    @Override
    public void close() {
        ending.closeHere();
        connection.queuePair().noLongerOnClose(queuePairClosed);
        connection.close();
        rings.close();
    }

    @Override
    public String toString() {
        return "channel on " + connection;
    }
}
