package org.jrdma.soft.sisci.fabric;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;

/**
 * The objects of this process that messages from other processes refer to. This process has chosen
 * the number of each object. Safe for use by multiple threads.
 */
final class ConnectedObjects {

    private final Map<Integer, ConnectedObject> byNumber = new ConcurrentHashMap<>();
    private final AtomicInteger lastNumber = new AtomicInteger();

    /** An object of this process that is connected to an object of another process. */
    interface ConnectedObject {
        /** Handles a message whose subject is the number of this object. */
        void received(Message message);

        void lost(Connection connection);

        /** Called when this process leaves the fabric. */
        default void abandon() {}
    }

    int newNumber() {
        return lastNumber.incrementAndGet();
    }

    void add(int number, ConnectedObject object) {
        byNumber.put(number, object);
    }

    void remove(int number) {
        byNumber.remove(number);
    }

    void received(Message message) {
        var object = byNumber.get(message.subject());
        if (object != null) {
            object.received(message);
        }
    }

    void lost(Connection connection) {
        byNumber.values().forEach(object -> object.lost(connection));
    }

    void abandon() {
        byNumber.values().forEach(ConnectedObject::abandon);
    }
}
