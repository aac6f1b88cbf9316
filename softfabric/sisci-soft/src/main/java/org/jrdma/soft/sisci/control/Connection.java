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

    /** The number of triggers that each waiting trigger message stands for, by subject. */
    private final Map<Integer, Integer> triggers = new HashMap<>();

    private boolean closed;
    private volatile int node;
    private volatile int member = -1;

    Connection(ConnectionManager manager, int socket) {
        this.manager = manager;
        this.socket = socket;
    }

    /** The node at the other end; 0 before its HELLO message. */
    public int node() {
        return node;
    }

    /** The number of the process at the other end, among those of its node. */
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

    /** Sends a message, queued if the socket is full. Does nothing if the peer has ended. */
    public synchronized void send(Message message) {
        if (!closed) {
            add(message);
        }
    }

    /**
     * Sends a trigger. If a trigger of the same subject is still queued, the two are combined.
     * Triggers for a process that is stopped therefore neither block nor accumulate in memory.
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
            waiting.removeFirst(); // sent, or the peer has ended, which poll reports
            if (message.kind() == Message.Kind.TRIGGER) {
                triggers.remove(message.subject());
            }
        }
        return true;
    }

    /** Drops queued and further messages. */
    synchronized void close() {
        closed = true;
        waiting.clear();
        triggers.clear();
    }
}
