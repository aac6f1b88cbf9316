package org.jrdma.soft.sisci.control;

import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.sisci.host.SignalSocket;
import org.jrdma.soft.sisci.host.SystemCalls;

/**
 * One end of a connection to another process, or to this process. Messages arrive in order. Safe
 * for use by multiple threads. No method blocks.
 */
public final class Connection {

    /**
     * The limit of {@link #isCongested}: two processes should never have so many requests in
     * progress.
     */
    private static final int MAX_RESPONSES = 256;

    /** If the queue is longer, {@link #sendOnce} drops messages. */
    private static final int MAX_MERGED = 4096;

    private final FabricConnections connections;
    private final int socket;
    private final SeqPacketSocket.Packet packet =
            new SeqPacketSocket.Packet(Message.MAX_BYTES, Arena.ofAuto());
    private final ArrayQueue<Message> waiting = new ArrayQueue<>();

    /**
     * The number of triggers that each queued trigger message represents, by the subject of the
     * message.
     */
    private final Map<Integer, Integer> triggers = new HashMap<>();

    /** The number of queued responses. */
    private int responses;

    private boolean closed;
    private volatile int node;
    private volatile int member = -1;

    Connection(FabricConnections connections, int socket) {
        this.connections = connections;
        this.socket = socket;
    }

    /**
     * Returns the id of the remote node. For an accepted connection, 0 until the HELLO message
     * arrives.
     */
    public int node() {
        return node;
    }

    /**
     * Returns the number of the peer among the processes of its node. For an accepted connection,
     * -1 until the HELLO message arrives.
     */
    public int member() {
        return member;
    }

    /**
     * Sets the node and the process of the peer. Returns false if they are invalid, or were set
     * before.
     */
    boolean identify(int newNode, int newMember) {
        if (newNode <= 0 || newMember < 0 || member >= 0) {
            return false;
        }
        node = newNode;
        member = newMember;
        return true;
    }

    int socket() {
        return socket;
    }

    /**
     * Sends a message, or queues it if the socket is full. Does nothing if this connection is
     * closed.
     */
    public synchronized void send(Message message) {
        if (closed) {
            message.discard();
        } else {
            add(message);
        }
    }

    /**
     * Sends a trigger message. If a trigger message with the same subject is still queued, only its
     * number of triggers is incremented. A stopped peer therefore neither blocks the caller nor
     * causes messages to accumulate in memory.
     */
    public synchronized void trigger(int subject) {
        var times = triggers.getOrDefault(subject, 0);
        if (closed || times == Integer.MAX_VALUE) {
            return;
        }
        triggers.put(subject, times + 1);
        if (times == 0) {
            add(Message.about(Message.Kind.TRIGGER, subject));
        }
    }

    /**
     * Sends a message without payload and descriptor, unless an equal message is still queued.
     * Drops the message if the queue is long, because the peer may be stopped.
     */
    public synchronized void sendOnce(Message message) {
        if (closed || waiting.size() >= MAX_MERGED) {
            return;
        }
        for (var queued : waiting) {
            if (queued.kind() == message.kind()
                    && queued.subject() == message.subject()
                    && queued.first() == message.first()
                    && queued.value() == message.value()) {
                return;
            }
        }
        add(message);
    }

    /** Adds a message to the queue, or discards the message if that fails. */
    private void add(Message message) {
        try {
            waiting.addLast(message);
        } catch (Throwable e) {
            message.discard();
            throw e;
        }
        if (message.kind() == Message.Kind.RESPONSE) {
            responses++;
        }
        if (waiting.size() == 1 && !canSendWaiting()) {
            connections.wake();
        }
    }

    private boolean canSendWaiting() {
        try {
            return sendWaiting();
        } catch (OutOfMemoryError e) {
            return false; // The receiving thread sends the message later.
        }
    }

    public void respond(Message request, int error, long value) {
        send(response(request, error, value));
    }

    /**
     * Responds successfully to a request.
     *
     * @param descriptor the descriptor that the response carries. It is closed afterwards, also if
     *     this method fails
     */
    public void respondWithDescriptor(Message request, long value, int descriptor) {
        Message response;
        try {
            response = response(request, 0, value).withDescriptor(descriptor);
        } catch (Throwable e) {
            SystemCalls.close(descriptor);
            throw e;
        }
        send(response);
    }

    /** Responds to a request with a value and a payload. */
    public void respondWithData(Message request, long value, byte[] data) {
        send(response(request, 0, value).withData(data));
    }

    private static Message response(Message request, int error, long value) {
        return Message.of(Message.Kind.RESPONSE, error, 0, 0, value)
                .numbered(request.correlation());
    }

    public synchronized boolean isClosed() {
        return closed;
    }

    public synchronized int backlog() {
        return waiting.size();
    }

    /**
     * Returns true if the peer has left many responses unread. Further requests of the peer must
     * then wait, because each response occupies memory and sometimes a descriptor.
     */
    synchronized boolean isCongested() {
        return responses >= MAX_RESPONSES;
    }

    /** Sends queued messages. Returns false if not all of them can be sent yet. */
    synchronized boolean sendWaiting() {
        while (!waiting.isEmpty()) {
            var message = waiting.getFirst();
            if (message.kind() == Message.Kind.TRIGGER) {
                message = message.withFirst(triggers.get(message.subject()));
            }
            var length = message.write(packet.memory());
            var error = SeqPacketSocket.send(socket, packet, length, message.descriptor());
            if (SignalSocket.isTemporary(error)) {
                return false;
            }
            // The message was sent, or sending failed because the peer has ended, which the
            // receiving thread detects.
            waiting.removeFirst();
            message.discard();
            if (message.kind() == Message.Kind.RESPONSE) {
                responses--;
            }
            if (message.kind() == Message.Kind.TRIGGER) {
                triggers.remove(message.subject());
            }
        }
        return true;
    }

    /**
     * Closes this connection and its socket. Drops the queued messages, and all messages sent
     * afterwards.
     */
    synchronized void close() {
        if (!closed) {
            SystemCalls.close(socket);
        }
        closed = true;
        for (var message : waiting) {
            message.discard();
        }
        waiting.clear();
        responses = 0;
        triggers.clear();
    }
}
