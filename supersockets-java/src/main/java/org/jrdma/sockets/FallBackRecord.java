package org.jrdma.sockets;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

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

    /** With the transport that was preferred and the reason in one text. */
    static void commit(String peer, String preferred, String taken) {
        var recorded = new FallBackRecord();
        if (recorded.shouldCommit()) {
            recorded.peer = peer;
            recorded.preferred = preferred;
            recorded.taken = taken;
            recorded.commit();
        }
    }
}
