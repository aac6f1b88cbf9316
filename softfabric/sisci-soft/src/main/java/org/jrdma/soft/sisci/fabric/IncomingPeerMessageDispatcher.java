package org.jrdma.soft.sisci.fabric;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;

/**
 * The objects of this process to which messages from other processes refer. This process has chosen
 * the number of each object. Only the peer of an object can send messages to it. Safe for use by
 * multiple threads.
 */
final class IncomingPeerMessageDispatcher {

    private final Map<Integer, Registration> byNumber = new ConcurrentHashMap<>();
    private final AtomicInteger lastNumber = new AtomicInteger();

    private record Registration(Connection peer, ConnectedObject object) {}

    /** An object of this process that is connected to an object of another process. */
    interface ConnectedObject {
        /** Handles a message whose subject is the number of this object. */
        void received(Message message);

        /** Called when the process at the other end of the connection has ended. */
        void lost(Connection peer);

        /** Called when this process leaves the fabric. */
        default void abandon() {}
    }

    int newNumber() {
        return lastNumber.incrementAndGet();
    }

    /**
     * Adds an object.
     *
     * @param peer the connection over which messages for the object arrive
     */
    void add(int number, Connection peer, ConnectedObject object) {
        byNumber.put(number, new Registration(peer, object));
    }

    void remove(int number) {
        byNumber.remove(number);
    }

    void received(Connection from, Message message) {
        var found = byNumber.get(message.subject());
        if (found != null && found.peer() == from) {
            found.object().received(message);
        }
    }

    void lost(Connection connection) {
        for (var found : byNumber.values()) {
            if (found.peer() == connection) {
                found.object().lost(connection);
            }
        }
    }

    void abandon() {
        byNumber.values().forEach(found -> found.object().abandon());
    }
}
