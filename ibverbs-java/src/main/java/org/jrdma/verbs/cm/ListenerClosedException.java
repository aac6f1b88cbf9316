package org.jrdma.verbs.cm;

/**
 * Thrown when a thread waits for a request of a {@link Listener} or {@link DatagramListener} that
 * the program has closed, before or during the wait. It is the orderly end of a loop that serves
 * requests. A request that arrived before the close and was not returned has been rejected.
 */
public final class ListenerClosedException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    ListenerClosedException(String listener, IllegalStateException cause) {
        super(listener + " is closed", cause);
    }
}
