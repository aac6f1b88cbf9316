package org.jrdma.sockets.model;

import java.io.IOException;
import java.util.List;
import org.jrdma.ffi.AddressText;

/**
 * Reports the streams of {@link org.jrdma.sockets.OpenConnections} over JMX. The bean is registered
 * under the name {@value #NAME} when the first stream of this process is connected.
 */
public interface ConnectionsMXBean {

    /** The object name of the bean. */
    String NAME = "org.jrdma.sockets:type=Connections";

    /**
     * The system property by which a process announces that it has this bean. The process sets it
     * to {@link #NAME} after it has registered the bean. An observer, such as {@code jrdma net},
     * reads the property before it connects: otherwise it would start a management agent in a
     * process without the bean.
     */
    String PROPERTY = "org.jrdma.sockets.connections";

    /**
     * A {@link Connection} as JMX transfers it, with addresses and times as text.
     *
     * @param local the local address
     * @param peer the address of the peer
     * @param accepted true if the peer connected to this process
     * @param transport the name of the transport in use
     * @param whyNotFaster the transports that were preferred to the one in use, each with the
     *     reason why it is not used; empty if the first choice is used
     * @param bytesReceived the number of bytes that the program has read
     * @param bytesSent the number of bytes that the program has written
     * @param since the time when the stream was connected or accepted, in ISO 8601 format
     */
    record Line(
            String local,
            String peer,
            boolean accepted,
            String transport,
            String whyNotFaster,
            long bytesReceived,
            long bytesSent,
            String since) {

        /** Converts a connection to a line. */
        public static Line of(Connection connection) {
            return new Line(
                    AddressText.of(connection.local()),
                    AddressText.of(connection.peer()),
                    connection.accepted(),
                    connection.transport(),
                    connection.whyNotFaster(),
                    connection.bytesReceived(),
                    connection.bytesSent(),
                    connection.since().toString());
        }
    }

    /** Returns all open streams, the oldest first. */
    List<Line> getConnections();

    /** Returns the report of {@link org.jrdma.sockets.OpenConnections#report()}. */
    String getReport();

    /**
     * Returns the text that {@link org.jrdma.sockets.OpenConnections#superSocketsCounters()}
     * returns; empty if the program of the driver is not installed.
     */
    String getSuperSocketsCounters();

    /**
     * Reads the policy file immediately, like {@link
     * org.jrdma.sockets.FabricSockets#reloadPolicy()}.
     *
     * @throws IOException if the file is missing or malformed; the message names the file and the
     *     line
     */
    void reloadPolicy() throws IOException;
}
