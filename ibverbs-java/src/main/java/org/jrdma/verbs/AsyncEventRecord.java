package org.jrdma.verbs;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("org.jrdma.AsyncEvent")
@Label("RDMA asynchronous event")
@Description("Something happened to a device, a port or a queue")
@Category({"jrdma", "verbs"})
@StackTrace(false)
@SuppressWarnings("unused") // read by the flight recorder
final class AsyncEventRecord extends Event {

    private String device = "";
    private String type = "";
    private String subject = "";

    static AsyncEvent commit(String device, AsyncEvent event) {
        var recorded = new AsyncEventRecord();
        if (recorded.shouldCommit()) {
            recorded.device = device;
            recorded.type = event.type().name();
            recorded.subject =
                    event.port().isPresent()
                            ? "port " + event.port().getAsInt()
                            : event.subject().map(Object::toString).orElse("");
            recorded.commit();
        }
        return event;
    }
}
