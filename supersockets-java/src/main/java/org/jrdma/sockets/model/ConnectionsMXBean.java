package org.jrdma.sockets.model;

import java.io.IOException;
import java.util.List;

/**
 * {@link org.jrdma.sockets.Connections} over JMX, by the name {@value #NAME} from this process's
 * first connection on.
 */
public interface ConnectionsMXBean {

    /** By which it is found. */
    String NAME = "org.jrdma.sockets:type=Connections";

    /**
     * The system property that a process has, with {@link #NAME} in it, when the bean is there: it
     * can be read without starting management in a process that has no such sockets.
     */
    String PROPERTY = "org.jrdma.sockets.connections";

    /**
     * A {@link Connection} in the types of JMX.
     *
     * @param local its address here
     * @param peer whom it leads to
     * @param accepted whether the peer connected to us
     * @param transport the way that its bytes take
     * @param whyNotFaster the transports that were preferred, and why they were not taken
     * @param bytesReceived what the program has read
     * @param bytesSent what the program has written
     * @param since when it was connected or accepted, in the form of ISO 8601
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

        /** The line of a connection. */
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

    /** All that are open, the oldest first. */
    List<Line> getConnections();

    /** The same report, printed as {@link org.jrdma.sockets.Connections#report()} does. */
    String getReport();

    /**
     * As {@link org.jrdma.sockets.Connections#superSocketsCounters()}; empty where the driver's
     * program is not.
     */
    String getSuperSocketsCounters();

    /**
     * As {@link org.jrdma.sockets.FabricSockets#reloadPolicy()}.
     *
     * @throws IOException with the line that is bad
     */
    void reloadPolicy() throws IOException;
}
