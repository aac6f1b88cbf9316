package org.jrdma.verbs.cm;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.channel.ChannelParameters;
import org.jrdma.verbs.cm.channel.KeepAlive;
import org.jrdma.verbs.cm.channel.MessageRings;
import org.jrdma.verbs.cm.channel.RemoteOperations;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A connection that transfers messages, in order and exactly once, and that can read and write
 * remote memory of the peer.
 *
 * <p>Flow control is based on credits: neither side sends a message for which the other side has
 * posted no receive. {@link #trySend} returns false if a message cannot be sent now; only {@link
 * #await} waits:
 *
 * <pre>{@code
 * while (!channel.trySend(message)) {
 *     if (channel.await(handler, ofSeconds(10)) == RdmaChannel.WaitResult.TIMED_OUT) {
 *         throw new IOException("The peer handles no messages.");
 *     }
 * }
 * }</pre>
 *
 * <p>After the channel has ended, messages and completions that arrived earlier are still handled.
 * Then each method throws {@link ChannelClosedException}, {@link #termination()} returns the cause,
 * and {@link #unfinishedOperations()} the reads and writes that have not completed. A peer that
 * disconnects or closes the channel ends it immediately. A crashed peer is detected by a side that
 * sends, after the last retransmission has timed out; see {@link
 * RdmaChannelOptions#acknowledgeTimeout}. A side that only receives detects a crash only with a
 * {@linkplain RdmaChannelOptions#keepAlive keep-alive}.
 *
 * <p>A channel is confined to the thread that created it. Other threads may call only {@link
 * #wake()}, {@link #close()} and {@link #termination()}; all other methods throw
 * WrongThreadException. Both sides must call {@link #poll} or {@link #await} regularly: a side that
 * does not handle messages blocks the other side. Sending and receiving allocate nothing in the
 * steady state.
 */
public final class RdmaChannel implements AutoCloseable {

    /**
     * A handler of received messages and completed operations.
     *
     * <p>The caller of {@link #poll} or {@link #await} gets the exception that a handler throws.
     * The channel stays open. The message or operation counts as handled, and the next call
     * continues with the message or operation that follows.
     */
    public interface Handler {

        /**
         * Handles a message. May send, but must not call {@link #poll} or {@link #await}.
         *
         * @param buffer a buffer that starts with the message; it is reused after this method
         *     returns
         * @param length the length of the message in bytes
         * @throws IOException if the message cannot be handled
         */
        void message(MemorySegment buffer, long length) throws IOException;

        /**
         * Handles the completion of a remote read or write.
         *
         * @param id the id with which the program has started the operation
         * @throws IOException if the completion cannot be handled
         */
        default void done(long id) throws IOException {}
    }

    /** The reason for which {@link #await} returned. */
    public enum WaitResult {
        /** At least one received message or completed operation was handled. */
        HANDLED,
        /** Nothing was handled, but more messages can be sent than before the call. */
        CAN_SEND,
        /**
         * A thread called {@link #wake()}. Received messages and completed operations may have been
         * handled as well, and more messages may be sent than before the call.
         */
        WOKEN,
        /** The timeout expired. The channel is open; the peer may be idle or busy. */
        TIMED_OUT
    }

    private final Thread owner = Thread.currentThread();
    private final Connection<PolledQueuePair> connection;
    private final MessageRings rings;
    private final RemoteOperations operations;
    private final PrivateData privateData;
    private final ChannelCompletions completions;
    private final Runnable queuePairClosed;
    private final int maxMessageBytes;
    private final ChannelTermination termination;

    private boolean claimed;

    /**
     * Creates a channel on a connection.
     *
     * @param asInitiator true if this side connected, false if it accepted
     */
    RdmaChannel(
            ProtectionDomain domain,
            Connection<PolledQueuePair> connection,
            boolean asInitiator,
            ChannelParameters peer,
            MessageRings rings,
            RdmaChannelOptions options)
            throws VerbsException {
        this.connection = connection;
        this.rings = rings;
        this.operations = new RemoteOperations(connection.queuePair(), options.operations);
        this.privateData = ChannelParameters.programData(connection.privateData());
        var queue = rings.completions();
        this.termination = new ChannelTermination(toString(), domain, connection, queue);
        // The queue is closed to wake up a thread in await(), for example when the protection
        // domain is closed.
        this.queuePairClosed = () -> BlockingCalls.start(queue::close);
        var keepAlive = new KeepAlive(connection.queuePair(), options.keepAlive);
        this.completions = new ChannelCompletions(rings, operations, keepAlive, termination);
        this.maxMessageBytes = Math.min(rings.parameters().messageBytes(), peer.messageBytes());
        rings.start(connection.queuePair(), peer, connection.isIwarp() && !asInitiator);
        if (connection.isIwarp() && asInitiator) {
            rings.sendFirstHeader();
        }
        connection.queuePair().onClose(queuePairClosed);
    }

    /**
     * The underlying connection, which the channel owns. The program must not post requests to its
     * queue pair, because they would occupy slots that the channel relies on.
     */
    public Connection<PolledQueuePair> connection() {
        return connection;
    }

    /**
     * The private data that the peer's program sent when it connected or accepted, including
     * padding; see {@link RdmaChannelOptions#privateData}.
     */
    public PrivateData privateData() {
        return privateData;
    }

    /**
     * Returns the cause for which this channel has ended; empty if the channel can be used. A
     * disconnect by the peer becomes visible when {@link #poll} or {@link #await} detects it. May
     * be called by any thread.
     */
    public Optional<TerminationCause> termination() {
        return termination.cause();
    }

    /** The maximum length of a message that can be sent, in bytes. */
    public int maxMessageBytes() {
        return maxMessageBytes;
    }

    /** The number of messages that can be sent without waiting for the peer. */
    public int freeMessages() {
        checkThread();
        return rings.freeMessages();
    }

    /**
     * Sends a copy of a message unless flow control prevents it.
     *
     * @return false if the message was not sent: call {@link #await} or {@link #poll}, and retry
     * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes()}
     * @throws IllegalStateException if a message is claimed, which this message would overwrite
     * @throws ChannelClosedException if the channel has ended
     */
    public boolean trySend(MemorySegment message) throws VerbsException {
        checkThread();
        checkLength(message.byteSize());
        if (claimed) {
            throw new IllegalStateException(
                    "Cannot send a message while another one is claimed. Call send() first.");
        }
        termination.check();
        if (rings.freeMessages() <= 0) {
            return false;
        }
        // The copy may throw, for example for a closed arena. Until then, nothing has changed.
        MemorySegment.copy(message, 0, rings.nextMessage(), 0, message.byteSize());
        post(message.byteSize());
        return true;
    }

    /**
     * Claims a buffer for the next message, which {@link #send} sends without copying. Until then,
     * this method returns the same buffer.
     *
     * @return null if no message can be sent: call {@link #await} or {@link #poll}, and try again
     * @throws ChannelClosedException if the channel has ended
     */
    public @Nullable MemorySegment tryClaim() throws VerbsException {
        checkThread();
        termination.check();
        if (!claimed && rings.freeMessages() <= 0) {
            return null;
        }
        claimed = true;
        return rings.nextMessage();
    }

    /**
     * Sends the message in the buffer that {@link #tryClaim} returned.
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
            throw new IllegalStateException("No message is claimed. Call tryClaim() first.");
        }
        termination.check();
        claimed = false;
        post(bytes);
    }

    /** Posts the message in the next buffer. */
    private void post(long bytes) throws VerbsException {
        try {
            rings.send(bytes);
        } catch (VerbsException e) {
            throw termination.postFailed(e); // Some devices report a failure after posting.
        } catch (IllegalStateException e) {
            throw termination.explained(e);
        }
    }

    private void checkLength(long bytes) {
        if (bytes < 0 || bytes > maxMessageBytes) {
            throw new IllegalArgumentException(
                    "The message has %d bytes; the maximum of this channel is %d"
                            .formatted(bytes, maxMessageBytes));
        }
    }

    /**
     * Starts to write to remote memory. The local memory must not change until the write has
     * completed. The peer is not notified; messages that are sent afterwards arrive after the data.
     *
     * @param id the identifier that is passed to {@link Handler#done}
     * @return false if too many operations are in flight: call {@link #await} or {@link #poll}
     * @throws IndexOutOfBoundsException if the remote memory is shorter than the local memory
     * @throws ChannelClosedException if the channel has ended
     */
    public boolean tryWriteRemote(MemorySlice local, RemoteMemory remote, long id)
            throws VerbsException {
        checkThread();
        termination.check();
        try {
            return rings.isStarted() && operations.tryWrite(local, remote, id);
        } catch (IllegalStateException e) {
            throw termination.explained(e);
        }
    }

    /**
     * Starts to read remote memory. The local memory must not be used until the read has completed.
     *
     * @param id the identifier that is passed to {@link Handler#done}
     * @return false if too many operations are in flight: call {@link #await} or {@link #poll}
     * @throws IndexOutOfBoundsException if the remote memory is shorter than the local memory
     * @throws ChannelClosedException if the channel has ended
     */
    public boolean tryReadRemote(MemorySlice local, RemoteMemory remote, long id)
            throws VerbsException {
        checkThread();
        termination.check();
        try {
            return rings.isStarted() && operations.tryRead(local, remote, id);
        } catch (IllegalStateException e) {
            throw termination.explained(e);
        }
    }

    /**
     * The ids of the remote reads and writes that have been started and for which {@link
     * Handler#done} was not called, in the order in which they were started. Can still be called
     * after the channel has ended or was closed. Then the result contains the operations that
     * failed and those whose outcome is unknown: they may have been executed.
     *
     * <p>While the channel is open, and after it has ended by a failure, the device may access the
     * local memory of these operations. After {@link #close()} has returned, the device no longer
     * accesses that memory, and the program can free or reuse it.
     */
    public long[] unfinishedOperations() {
        checkThread();
        return operations.unfinished();
    }

    /**
     * Handles received messages and completed operations without waiting.
     *
     * @return the number of messages and operations that were handled
     * @throws ChannelClosedException if the channel has ended and there is nothing left to handle
     * @throws IOException if the handler throws it
     * @throws IllegalStateException if the protection domain or the device is closed
     */
    public int poll(Handler handler) throws IOException {
        checkThread();
        return completions.poll(handler);
    }

    /**
     * Waits until a message has arrived, an operation has completed, more messages can be sent than
     * before the call, or a thread has called {@link #wake()}. Handles received messages and
     * completed operations. To wait for a particular message, call this method until that message
     * has been handled.
     *
     * @throws ChannelClosedException if the channel has ended, for example by {@link #close()}
     *     during the wait, and there is nothing left to handle
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IOException if the handler throws it
     * @throws IllegalStateException if the protection domain or the device is or becomes closed
     */
    public WaitResult await(Handler handler, Duration timeout) throws IOException {
        checkThread();
        return completions.await(handler, timeout);
    }

    /**
     * Makes the channel's thread return from {@link #await} with {@link WaitResult#WOKEN}, for
     * example because another thread has queued a message for it. If the thread is not waiting, its
     * next call of {@code await} returns immediately. Several calls before {@code await} returns
     * WOKEN have the effect of one call. Has no effect after the channel has ended. May be called
     * by any thread.
     */
    public void wake() {
        completions.wake();
    }

    private void checkThread() {
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException(
                    "%s is confined to thread %s; called by %s"
                            .formatted(this, owner, Thread.currentThread()));
        }
    }

    /**
     * Closes the channel and its connection without waiting for the peer. Requests in flight are
     * canceled, and messages that the peer has not handled may be lost. After this method has
     * returned, the device no longer accesses the local memory of the {@linkplain
     * #unfinishedOperations() unfinished operations}. Wakes up a thread that waits in {@link
     * #await}. May be called by any thread.
     */
    @Override
    public void close() {
        termination.closeLocally();
        connection.queuePair().removeOnClose(queuePairClosed);
        connection.close();
        rings.close();
    }

    @Override
    public String toString() {
        return "channel on " + connection;
    }
}
