package org.jrdma.sockets.model;

import java.io.IOException;
import java.util.List;

/**
 * The streams of {@link org.jrdma.sockets.Connections} over JMX. The bean is registered under the
 * name {@value #NAME} when the first stream of this process is connected.
 */
public interface ConnectionsMXBean {

    /** The object name of the bean. */
    String NAME = "org.jrdma.sockets:type=Connections";

    /**
     * A system property of a process whose bean is registered; its value is {@link #NAME}. Another
     * process can read the property without starting a management agent in a process that has no
     * such bean.
     */
    String PROPERTY = "org.jrdma.sockets.connections";

    /**
     * A {@link Connection} in the types of JMX.
     *
     * @param local the local address
     * @param peer the address of the peer
     * @param accepted true if the peer connected to this process
     * @param transport the transport in use
     * @param whyNotFaster the transports that were preferred, each with the reason why it is not
     *     used
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

        /** Returns the line of a connection. */
        public static Line of(Connection connection) {
            return new Line(
                    Connection.name(connection.local()),
                    Connection.name(connection.peer()),
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

    /** Returns the report of {@link org.jrdma.sockets.Connections#report()}. */
    String getReport();

    /**
     * Returns the counters of {@link org.jrdma.sockets.Connections#superSocketsCounters()}; empty
     * if the driver's program is not installed.
     */
    String getSuperSocketsCounters();

    /**
     * Does the same as {@link org.jrdma.sockets.FabricSockets#reloadPolicy()}.
     *
     * @throws IOException if the file is missing or malformed; the message names the file and the
     *     line
     */
    void reloadPolicy() throws IOException;
}
