package org.jrdma.soft.sisci.control;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.sisci.host.PacketSocket;

/**
 * One end of a connection to another process, or to this one. Messages arrive in their order. Safe
 * for use by several threads, none of which ever waits.
 */
public final class Connection {

    private final ConnectionManager manager;
    private final int socket;
    private final MemorySegment buffer = Arena.ofAuto().allocate(Message.MOST_BYTES, 8);
    private final ArrayDeque<Message> waiting = new ArrayDeque<>();

    /** How often the triggers that wait are to trigger, by their subject. */
    private final Map<Integer, Integer> triggers = new HashMap<>();

    private boolean closed;
    private volatile int node;
    private volatile int member = -1;

    Connection(ConnectionManager manager, int socket) {
        this.manager = manager;
        this.socket = socket;
    }

    /** The node at the other end; 0 while it has not said hello. */
    public int node() {
        return node;
    }

    /** Which process of that node. */
    public int member() {
        return member;
    }

    void isOf(int newNode, int newMember) {
        node = newNode;
        member = newMember;
    }

    int socket() {
        return socket;
    }

    /** Sends a message, as soon as there is room. To a process that has gone it sends nothing. */
    public synchronized void send(Message message) {
        if (!closed) {
            add(message);
        }
    }

    /**
     * Sends a trigger; one that finds another of the same subject still waiting goes with that, so
     * that whoever triggers a process that has stopped neither waits nor fills this one's memory.
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

    /** Answers a request. */
    public void answer(Message request, int error, long value) {
        send(Message.of(Message.Kind.ANSWER, error, 0, 0, value).numbered(request.correlation()));
    }

    /** Whether the other has gone. */
    public synchronized boolean isClosed() {
        return closed;
    }

    /** How many messages have found no room yet. */
    public synchronized int backlog() {
        return waiting.size();
    }

    /** False if some could not be sent for want of room. */
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
            waiting.removeFirst(); // sent, or the peer has gone, which its hang-up tells
            if (message.kind() == Message.Kind.TRIGGER) {
                triggers.remove(message.subject());
            }
        }
        return true;
    }

    /** Nothing is sent any more. */
    synchronized void close() {
        closed = true;
        waiting.clear();
        triggers.clear();
    }
}
