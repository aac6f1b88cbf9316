package org.jrdma.sockets.report;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;

/** The JFR event that records a stream when it is closed. */
@Name("org.jrdma.SocketConnection")
@Label("Socket connection")
@Description("A stream was closed; the duration is the time since it was connected")
@Category({"jrdma", "sockets"})
@StackTrace(false)
@SuppressWarnings("unused") // Read by the flight recorder.
final class ClosedConnectionEvent extends Event {

    private String local = "";
    private String peer = "";
    private String transport = "";
    private boolean accepted;
    private String whyNotFaster = "";

    @DataAmount private long bytesReceived;
    @DataAmount private long bytesSent;

    void closed(Connection connection) {
        end();
        if (shouldCommit()) {
            var line = Line.of(connection);
            local = line.local();
            peer = line.peer();
            transport = line.transport();
            accepted = line.accepted();
            whyNotFaster = line.whyNotFaster();
            bytesReceived = line.bytesReceived();
            bytesSent = line.bytesSent();
            commit();
        }
    }
}
