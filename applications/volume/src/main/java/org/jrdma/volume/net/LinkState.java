package org.jrdma.volume.net;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The state of a link at one moment.
 *
 * @param node the name of the node
 * @param transport the transport in use; empty if the node is not connected
 * @param connection a description of the connection, or the reason for which there is none
 * @param since the time at which this state began
 * @param unused the transports that are preferred to the one in use, with the reasons for which
 *     they are not used
 * @param switches the number of times that another connection replaced the first one
 * @param reason the reason of the last switch; empty before the first
 * @param pause the time of the last switch without a connection; zero if the link switched to a
 *     better transport
 */
public record LinkState(
        String node,
        Optional<NodeTransport> transport,
        String connection,
        Instant since,
        List<TransportFailure> unused,
        int switches,
        String reason,
        Duration pause) {

    /**
     * Returns one line, such as {@code storage01 sockets (tcp) to storage01/10.0.0.1:7471
     * (verbs:...: the peer does not answer)}.
     */
    @Override
    public String toString() {
        var text = new StringBuilder(node).append(' ').append(connection);
        for (var index = 0; index < unused.size(); index++) {
            text.append(index == 0 ? " (" : "; ").append(unused.get(index));
        }
        return text.append(unused.isEmpty() ? "" : ")").toString();
    }
}
