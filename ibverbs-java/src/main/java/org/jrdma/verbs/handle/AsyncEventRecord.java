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

/** The flight recorder's event for an asynchronous event. */
@Name("org.jrdma.AsyncEvent")
@Label("RDMA asynchronous event")
@Description("Something happened to a device, a port or a queue")
@Category({"jrdma", "verbs"})
@StackTrace(false)
@SuppressWarnings("unused") // read by the flight recorder
public final class AsyncEventRecord extends Event {

    private String device = "";
    private String type = "";
    private String subject = "";

    /** Records an event, if a recording wants it. */
    public static void commit(
            String device, AsyncEventType type, OptionalInt port, Optional<NativeObject> subject) {
        var recorded = new AsyncEventRecord();
        if (recorded.shouldCommit()) {
            recorded.device = device;
            recorded.type = type.name();
            recorded.subject =
                    port.isPresent()
                            ? "port " + port.getAsInt()
                            : subject.map(Object::toString).orElse("");
            recorded.commit();
        }
    }
}
