package org.jrdma.sockets;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("org.jrdma.SocketConnection")
@Label("Socket connection")
@Description("A stream was connected, and is closed; the duration is the time between")
@Category({"jrdma", "sockets"})
@StackTrace(false)
@SuppressWarnings("unused") // read by the flight recorder
final class ConnectionRecord extends Event {

    private String local = "";
    private String peer = "";
    private String transport = "";
    private boolean accepted;
    private String whyNotFaster = "";

    @DataAmount private long bytesReceived;
    @DataAmount private long bytesSent;

    void connected(StreamChannel channel) {
        begin();
        for (var refusal : channel.refusals()) {
            FallBackRecord.commit(peer(channel), refusal, channel.transport().name());
        }
    }

    void closed(StreamChannel channel) {
        end();
        if (shouldCommit()) {
            local = channel.local().map(Connection::name).orElse("");
            peer = peer(channel);
            transport = channel.transport().name();
            accepted = channel.isAccepted();
            whyNotFaster = String.join("; ", channel.refusals());
            bytesReceived = channel.bytesReceived();
            bytesSent = channel.bytesSent();
            commit();
        }
    }

    private static String peer(StreamChannel channel) {
        return channel.peer().map(Connection::name).orElse("");
    }
}
