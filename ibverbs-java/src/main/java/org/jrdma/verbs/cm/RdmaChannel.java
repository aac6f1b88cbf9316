package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.MemorySlice;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRead;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Messages over a connection, in order and each once; and reads and writes of memory that the peer
 * has told of.
 *
 * <p>Neither side ever sends what the other has no room for: each message carries back how many
 * were handled, and where none goes that way, a word without one does. So what cannot be sent now
 * is a value, and nothing waits, unless asked to:
 *
 * <pre>{@code
 * while (!channel.trySend(message)) {
 *     channel.await(handler, ofSeconds(1));
 * }
 * }</pre>
 *
 * <p>A peer that disconnects or is closed ends the channel at once. One that dies without a word,
 * with its machine or, on the software fabric, with its process, is missed by who sends: what is
 * not acknowledged is sent again, and at last ends the channel, after some seconds by default; see
 * {@link RdmaChannelOptions#acknowledgeTimeout}. A side that only receives must send now and then
 * to miss it.
 *
 * <p>Belongs to the thread that made it; others get WrongThreadException. Only {@link #close()} is
 * for any thread. Once warm, nothing is allocated. Both sides must poll: a side that does not take
 * what comes holds up the other.
 */
public final class RdmaChannel implements AutoCloseable {

    /** What becomes of what arrives and of what is done. */
    public interface Handler {

        /**
         * A message has come. It may send; it may not poll.
         *
         * @param buffer begins with the message, and is used again when this returns
         * @param length how many bytes the message has
         */
        void message(MemorySegment buffer, long length);

        /** A read or a write is done. */
        default void done(long id) {}
    }

    private final Thread owner = Thread.currentThread();
    private final Connection<PolledQueuePair> connection;
    private final ProtectionDomain domain;
    private final ChannelRings rings;
    private final PrivateData privateData;
    private final CompletionCursor cursor;
    private final Runnable queuePairClosed;
    private final int maxMessageBytes;

    /** By slot; made when first needed. */
    private final @Nullable PreparedWrite[] writes;

    private final @Nullable PreparedRead[] reads;
    private final long[] operationIds;
    private long operationsBegun;
    private long operationsDone;

    private boolean claimed;
    private boolean handling;

    /** Why nothing more will come. */
    private @Nullable String ended;

    private RdmaChannel(
            ProtectionDomain domain, Made made, ChannelGreeting peer, ChannelRings rings)
            throws VerbsException {
        this.domain = domain;
        this.connection = made.connection;
        this.rings = rings;
        this.privateData = ChannelGreeting.behind(made.privateData);
        var connected = made.connected;
        var completions = rings.completions();
        // With its domain, most likely; whoever waits for completions waits in vain.
        this.queuePairClosed = () -> PlatformCalls.start(completions::close);
        this.cursor = rings.completions().newCursor(Math.min(64, rings.capacity()));
        this.maxMessageBytes = Math.min(rings.greeting().messageBytes(), peer.messageBytes());
        this.writes = new PreparedWrite[rings.operations()];
        this.reads = new PreparedRead[rings.operations()];
        this.operationIds = new long[rings.operations()];
        rings.begin(connection.queuePair(), peer, connection.isWarp() && !connected);
        if (connection.isWarp() && connected) {
            rings.greet();
        }
        connection.queuePair().onClose(queuePairClosed);
    }

    /**
     * Connects to a peer that accepts a channel.
     *
     * @param domain of the device that leads there
     * @throws IllegalArgumentException if the private data is longer than there is room for
     * @throws CmException if there is nobody, or nobody wants to
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public static RdmaChannel connect(
            ConnectionManager connections,
            InetSocketAddress peer,
            ProtectionDomain domain,
            RdmaChannelOptions options,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        options.checkPrivateData("A request", isWarp(domain) ? 248 : 56);
        return make(
                domain,
                options,
                asked -> {
                    var connection = connections.connect(peer, domain, asked, timeout);
                    return new Made(connection, connection.privateData(), true);
                });
    }

    /**
     * Accepts a peer that wants a channel, and refuses any other. On iWARP there is no room to send
     * until the peer's first words have come, which come by themselves. The request is closed by
     * it, whatever comes of it.
     *
     * @param domain of the device that the request came through
     * @throws IllegalArgumentException if the private data is longer than there is room for
     * @throws VerbsException if it wants something else
     * @throws CmException if the peer has given up
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public static RdmaChannel accept(
            ConnectionRequest request,
            ProtectionDomain domain,
            RdmaChannelOptions options,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        try (request) { // whatever fails, the peer is answered
            if (ChannelGreeting.from(request.privateData()).isEmpty()) {
                throw new VerbsException(
                        "rdma_accept", "%s does not ask for a channel".formatted(request));
            }
            options.checkPrivateData("An answer", isWarp(domain) ? 248 : 196);
            return make(
                    domain,
                    options,
                    asked ->
                            new Made(
                                    request.accept(domain, asked, timeout),
                                    request.privateData(),
                                    false));
        }
    }

    private static boolean isWarp(ProtectionDomain domain) {
        return domain.device().description().transportType() == TransportType.IWARP;
    }

    private record Made(
            Connection<PolledQueuePair> connection, PrivateData privateData, boolean connected) {}

    private interface Connecting {
        Made with(ConnectionOptions<PolledQueuePair> options)
                throws FabricException, InterruptedIOException;
    }

    private static RdmaChannel make(
            ProtectionDomain domain, RdmaChannelOptions options, Connecting connecting)
            throws FabricException, InterruptedIOException {
        var rings = new ChannelRings(domain, options);
        Made made = null;
        RdmaChannel channel = null;
        try {
            made =
                    connecting.with(
                            options.connection(rings.queuePairOptions(), rings.greeting())
                                    .prepared(rings::postReceives));
            var greeting = ChannelGreeting.from(made.privateData);
            if (greeting.isEmpty()) {
                throw new VerbsException(
                        "rdma_connect", "%s is not to a channel".formatted(made.connection));
            }
            channel = new RdmaChannel(domain, made, greeting.get(), rings);
            return channel;
        } finally {
            if (channel == null) {
                if (made != null) {
                    made.connection.close();
                }
                rings.close();
            }
        }
    }

    /**
     * The connection below, which the channel owns. What is posted to its queue pair by other means
     * takes room that the channel counts on.
     */
    public Connection<PolledQueuePair> connection() {
        return connection;
    }

    /**
     * What the peer's program sent along when it connected or accepted, with its padding; see
     * {@link RdmaChannelOptions#privateData}.
     */
    public PrivateData privateData() {
        return privateData;
    }

    /**
     * The same of a request, before it is accepted.
     *
     * @return empty if it does not ask for a channel
     */
    public static Optional<PrivateData> privateData(ConnectionRequest request) {
        var all = request.privateData();
        return ChannelGreeting.from(all).map(_ -> ChannelGreeting.behind(all));
    }

    /** The longest message that can be sent. */
    public int maxMessageBytes() {
        return maxMessageBytes;
    }

    /** How many messages can be sent now. */
    public int freeMessages() {
        checkThread();
        return rings.freeMessages();
    }

    /**
     * Sends a copy of a message, if the peer has room.
     *
     * @return false if it has not: then poll
     * @throws IllegalArgumentException if it is longer than {@link #maxMessageBytes()}
     * @throws IllegalStateException if a message is claimed, which would be lost
     * @throws VerbsException if the channel has ended
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
     * Gives memory to write the next message into, where it is sent from, if the peer has room. The
     * same again until {@link #send}.
     *
     * @return null if it has not: then poll
     * @throws VerbsException if the channel has ended
     */
    public @Nullable MemorySegment tryClaim() throws VerbsException {
        checkThread();
        refuseIfEnded();
        if (!claimed && rings.freeMessages() <= 0) {
            return null;
        }
        claimed = true;
        return rings.nextMessage();
    }

    /**
     * Sends what was written into the memory that {@link #tryClaim} gave.
     *
     * @param bytes how much of it
     * @throws IllegalArgumentException if that is more than {@link #maxMessageBytes()}
     * @throws IllegalStateException if none was claimed
     */
    public void send(long bytes) throws VerbsException {
        checkThread();
        checkLength(bytes);
        if (!claimed) {
            throw new IllegalStateException("No message was claimed");
        }
        refuseIfEnded();
        claimed = false;
        try {
            rings.send(bytes);
        } catch (VerbsException e) {
            throw ended(e); // some devices have taken what they refuse
        } catch (IllegalStateException e) {
            throw explained(e);
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
     * Writes memory that the peer has told of, from memory that must stay as it is until this is
     * done. The peer is not told then: a message that is sent after it comes after it.
     *
     * @param id what {@link Handler#done} is given then
     * @return false if as many as there is room for are under way: then poll
     * @throws IndexOutOfBoundsException if the peer's memory is shorter
     */
    public boolean tryWriteRemote(MemorySlice local, RemoteMemory remote, long id)
            throws VerbsException {
        var slot = freeOperation();
        if (slot < 0) {
            return false;
        }
        var write = writes[slot];
        if (write == null) {
            write =
                    connection
                            .queuePair()
                            .prepareWrite(local, remote)
                            .id(ChannelRings.operation(slot));
            writes[slot] = write;
        }
        return begin(write.between(local, remote), slot, id);
    }

    /**
     * Reads memory that the peer has told of, into memory that nobody may use until this is done.
     *
     * @param id what {@link Handler#done} is given when it is here
     * @return false if as many as there is room for are under way: then poll
     * @throws IndexOutOfBoundsException if the peer's memory is shorter
     */
    public boolean tryReadRemote(MemorySlice local, RemoteMemory remote, long id)
            throws VerbsException {
        var slot = freeOperation();
        if (slot < 0) {
            return false;
        }
        var read = reads[slot];
        if (read == null) {
            read =
                    connection
                            .queuePair()
                            .prepareRead(local, remote)
                            .id(ChannelRings.operation(slot));
            reads[slot] = read;
        }
        return begin(read.between(local, remote), slot, id);
    }

    /** Operations complete in the order they were begun. */
    private int freeOperation() throws VerbsException {
        checkThread();
        refuseIfEnded();
        return operationsBegun - operationsDone == operationIds.length || !rings.hasBegun()
                ? -1
                : (int) (operationsBegun % operationIds.length);
    }

    private boolean begin(PreparedRequest<?> operation, int slot, long id) throws VerbsException {
        boolean posted;
        try {
            posted = operation.tryPost();
        } catch (IllegalStateException e) {
            throw explained(e);
        }
        if (posted) {
            operationIds[slot] = id;
            operationsBegun++;
        }
        return posted;
    }

    /**
     * Handles what has come and what is done. Does not wait.
     *
     * @return how many messages, reads and writes that were
     * @throws VerbsException if the channel has ended, and everything was handled that came before
     */
    public int poll(Handler handler) throws VerbsException {
        checkThread();
        refuseIfHandling();
        try {
            cursor.poll();
        } catch (IllegalStateException e) {
            throw explained(e);
        }
        return handle(handler);
    }

    /**
     * Waits until something has come or is done, or there is room to send again, and handles it.
     *
     * @return as {@link #poll}; 0 also when the time is over
     * @throws VerbsException as {@link #poll}
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the channel is closed, before or meanwhile, or its
     *     protection domain
     */
    public int await(Handler handler, Duration timeout)
            throws FabricException, InterruptedIOException {
        checkThread();
        refuseIfHandling();
        var deadline = Deadline.after(timeout);
        var roomBefore = rings.freeMessages();
        int handled;
        do {
            if (ended != null) {
                return poll(handler); // nothing more will come
            }
            try {
                cursor.await(Duration.ofNanos(deadline.remainingNanos()));
            } catch (IllegalStateException e) {
                throw explained(e);
            }
            handled = handle(handler);
        } while (handled == 0 && rings.freeMessages() <= roomBefore && !deadline.hasPassed());
        return handled;
    }

    private int handle(Handler handler) throws VerbsException {
        var handled = 0;
        handling = true;
        try {
            while (hasNext()) {
                if (!cursor.isSuccess()) {
                    end(cursor.status());
                } else if (handle(cursor.id(), handler)) {
                    handled++;
                }
            }
        } catch (VerbsException e) {
            throw ended(e);
        } finally {
            handling = false;
        }
        if (handled == 0) {
            refuseIfEnded();
        }
        return handled;
    }

    private boolean hasNext() {
        try {
            return cursor.next();
        } catch (IllegalStateException e) {
            throw explained(e);
        }
    }

    /** Whether it was something to show. What the handler throws is the program's. */
    private boolean handle(long id, Handler handler) throws VerbsException {
        if (ChannelRings.isReceive(id)) {
            return handleReceived(ChannelRings.slot(id), handler);
        }
        if (ChannelRings.isOperation(id)) {
            operationsDone++;
            handler.done(operationIds[ChannelRings.slot(id)]);
            return true;
        }
        try {
            rings.sent(id, ended == null);
        } catch (IllegalStateException e) {
            throw explained(e);
        }
        return false;
    }

    private boolean handleReceived(int slot, Handler handler) throws VerbsException {
        boolean isMessage;
        try {
            isMessage = rings.received(slot, cursor.bytes());
        } catch (IllegalStateException e) {
            throw explained(e);
        }
        var done = false;
        try {
            if (isMessage) {
                handler.message(rings.message(slot), ChannelRings.length(cursor.bytes()));
            }
            done = true;
        } finally {
            release(slot, isMessage, done);
        }
        return isMessage;
    }

    /**
     * @param done whether the handler has not thrown; what it throws is not to be hidden
     */
    private void release(int slot, boolean isMessage, boolean done) throws VerbsException {
        try {
            rings.handled(slot, isMessage, ended == null);
        } catch (IllegalStateException e) {
            if (done) {
                throw explained(e);
            }
        }
    }

    /** The first failure is the cause of all others. */
    private void end(CompletionStatus status) {
        if (ended == null) {
            ended =
                    status == CompletionStatus.FLUSHED
                            ? "one of both has disconnected"
                            : status + ", " + status.meaning();
        }
    }

    /** As {@link #end}. */
    private VerbsException ended(VerbsException cause) {
        if (ended == null) {
            ended = cause.getMessage();
        }
        return cause;
    }

    private void refuseIfEnded() throws VerbsException {
        if (!isOpen()) {
            throw closed(null);
        }
        if (ended != null) {
            throw new VerbsException(
                    "ibv_poll_cq", "The channel has ended, %s: %s".formatted(connection, ended));
        }
    }

    /** It is the channel that a program holds, not what it is made of. */
    private IllegalStateException explained(IllegalStateException e) {
        return isOpen() ? e : closed(e);
    }

    private boolean isOpen() {
        return connection.queuePair().isOpen() && rings.completions().isOpen();
    }

    private IllegalStateException closed(@Nullable IllegalStateException cause) {
        NativeObject below = domain.device().isOpen() ? domain : domain.device();
        return new IllegalStateException(
                below.isOpen() ? this + " is closed" : "%s is closed: %s is".formatted(this, below),
                cause);
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
     * Ends the channel and its connection, whatever is under way. What the peer has not handled it
     * may never see. Does not wait for the peer.
     */
    @Override
    public void close() {
        connection.queuePair().noLongerOnClose(queuePairClosed);
        connection.close();
        rings.close();
    }

    @Override
    public String toString() {
        return "channel on " + connection;
    }
}
