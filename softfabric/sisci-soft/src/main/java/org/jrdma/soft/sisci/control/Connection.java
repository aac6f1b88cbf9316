package org.jrdma.soft.sisci.control;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.sisci.host.PacketSocket;

/**
 * One end of a connection to another process, or to this process. Messages arrive in order. Safe
 * for use by multiple threads. No method blocks.
 */
public final class Connection {

    private final ConnectionManager manager;
    private final int socket;
    private final MemorySegment buffer = Arena.ofAuto().allocate(Message.MAX_BYTES, 8);
    private final ArrayDeque<Message> waiting = new ArrayDeque<>();

    /**
     * The number of triggers that each queued trigger message represents, by the subject of the
     * message.
     */
    private final Map<Integer, Integer> triggers = new HashMap<>();

    private boolean closed;
    private volatile int node;
    private volatile int member = -1;

    Connection(ConnectionManager manager, int socket) {
        this.manager = manager;
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

    void identify(int newNode, int newMember) {
        node = newNode;
        member = newMember;
    }

    int socket() {
        return socket;
    }

    /**
     * Sends a message, or queues it if the socket is full. Does nothing if this connection is
     * closed.
     */
    public synchronized void send(Message message) {
        if (!closed) {
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

    private void add(Message message) {
        waiting.addLast(message);
        if (waiting.size() == 1 && !sendWaiting()) {
            manager.wake();
        }
    }

    public void respond(Message request, int error, long value) {
        send(Message.of(Message.Kind.RESPONSE, error, 0, 0, value).numbered(request.correlation()));
    }

    public synchronized boolean isClosed() {
        return closed;
    }

    public synchronized int backlog() {
        return waiting.size();
    }

    /** Sends queued messages. Returns false if the socket has no space for all of them. */
    synchronized boolean sendWaiting() {
        while (!waiting.isEmpty()) {
            var message = waiting.getFirst();
            if (message.kind() == Message.Kind.TRIGGER) {
                message = message.withFirst(triggers.get(message.subject()));
            }
            var length = message.write(buffer);
            if (PacketSocket.send(socket, buffer.asSlice(0, length)) == Errno.EAGAIN) {
                return false;
            }
            // The message was sent, or the peer has ended, which the receiving thread detects.
            waiting.removeFirst();
            if (message.kind() == Message.Kind.TRIGGER) {
                triggers.remove(message.subject());
            }
        }
        return true;
    }

    /** Closes this connection. Drops the queued messages, and all messages sent afterwards. */
    synchronized void close() {
        closed = true;
        waiting.clear();
        triggers.clear();
    }
}
