package org.jrdma.sockets.report;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;

/** The JFR event that records a connection over another transport than the preferred one. */
@Name("org.jrdma.SocketFallback")
@Label("Socket fallback")
@Description("A stream is connected over a transport to which another was preferred")
@Category({"jrdma", "sockets"})
@StackTrace(false)
@SuppressWarnings("unused") // Read by the flight recorder.
final class FallbackEvent extends Event {

    private String peer = "";
    private String preferred = "";
    private String used = "";

    /**
     * Records that a connection does not use a preferred transport.
     *
     * @param preferred the name of the transport, and the reason why it is not used
     */
    static void commit(Connection connection, String preferred) {
        var recorded = new FallbackEvent();
        if (recorded.shouldCommit()) {
            recorded.peer = Line.of(connection).peer();
            recorded.preferred = preferred;
            recorded.used = connection.transport();
            recorded.commit();
        }
    }
}
