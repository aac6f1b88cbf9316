package org.jrdma.verbs.cm;

/**
 * Thrown when a thread waits for a request of a {@link Listener} or {@link DatagramListener} that
 * the program has closed, before or during the wait. A loop that serves requests ends with this
 * exception when its server stops. Requests that had arrived but were not returned are rejected.
 */
public final class ListenerClosedException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    ListenerClosedException(String listener, IllegalStateException cause) {
        super(listener + " is closed", cause);
    }
}
