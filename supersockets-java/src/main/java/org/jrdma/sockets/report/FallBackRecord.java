package org.jrdma.sockets.report;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;

@Name("org.jrdma.SocketFallBack")
@Label("Socket fall-back")
@Description("A stream is connected over a transport to which another was preferred")
@Category({"jrdma", "sockets"})
@StackTrace(false)
@SuppressWarnings("unused") // read by the flight recorder
final class FallBackRecord extends Event {

    private String peer = "";
    private String preferred = "";
    private String taken = "";

    /** Records one preferred transport, together with the reason why it was not taken. */
    static void commit(Connection connection, String preferred) {
        var recorded = new FallBackRecord();
        if (recorded.shouldCommit()) {
            recorded.peer = Line.of(connection).peer();
            recorded.preferred = preferred;
            recorded.taken = connection.transport();
            recorded.commit();
        }
    }
}
