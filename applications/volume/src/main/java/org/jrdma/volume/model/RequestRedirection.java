package org.jrdma.volume.model;

/**
 * The redirection of the requests of a client that does not reach the coordinator.
 *
 * @param server the name of the server that forwards the requests
 * @param reason the reason for which the client has not reached the coordinator
 */
public record RequestRedirection(String server, String reason) {

    @Override
    public String toString() {
        return "%s, because the coordinator cannot be reached (%s)".formatted(server, reason);
    }
}
