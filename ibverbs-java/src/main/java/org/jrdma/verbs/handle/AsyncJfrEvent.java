package org.jrdma.verbs.handle;

import java.util.Optional;
import java.util.OptionalInt;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.model.AsyncEventType;

/** The JFR event that records an asynchronous event of a device. */
@Name("org.jrdma.AsyncEvent")
@Label("RDMA asynchronous event")
@Description("A device, a port or a queue reported an asynchronous event")
@Category({"jrdma", "verbs"})
@StackTrace(false)
@SuppressWarnings("unused") // Read by JFR.
public final class AsyncJfrEvent extends Event {

    private String device = "";
    private String type = "";
    private String subject = "";

    public static void commit(
            String device, AsyncEventType type, OptionalInt port, Optional<NativeObject> subject) {
        var event = new AsyncJfrEvent();
        if (event.shouldCommit()) {
            event.device = device;
            event.type = type.name();
            event.subject =
                    port.isPresent()
                            ? "port " + port.getAsInt()
                            : subject.map(Object::toString).orElse("");
            event.commit();
        }
    }
}
