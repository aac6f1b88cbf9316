package org.jrdma.sockets.report;

import java.time.Instant;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timestamp;

/** The JFR event that records an open stream at the end of each chunk of a recording. */
@Name("org.jrdma.SocketOpen")
@Label("Open socket")
@Description("A stream that is open at the end of a chunk, and so at the end of a recording")
@Category({"jrdma", "sockets"})
@Period("endChunk")
@StackTrace(false)
@SuppressWarnings("unused") // Read by the flight recorder.
final class OpenConnectionEvent extends Event {

    @Label("Taken")
    @Description("The time when the stream was recorded; equal for all streams of a chunk")
    @Timestamp
    private long taken;

    private String local = "";
    private String peer = "";
    private String transport = "";
    private boolean accepted;
    private String whyNotFaster = "";
    private String since = "";

    @DataAmount private long bytesReceived;
    @DataAmount private long bytesSent;

    /**
     * Registers the event type, which takes effect when the flight recorder starts. Does not start
     * the flight recorder.
     */
    static void register() {
        FlightRecorder.addListener(
                new FlightRecorderListener() {
                    @Override
                    public void recorderInitialized(FlightRecorder recorder) {
                        FlightRecorder.addPeriodicEvent(
                                OpenConnectionEvent.class, OpenConnectionEvent::recordAll);
                    }
                });
    }

    private static void recordAll() {
        var now = Instant.now().toEpochMilli();
        for (var line : OpenStreams.lines()) {
            var recorded = new OpenConnectionEvent();
            recorded.taken = now;
            recorded.local = line.local();
            recorded.peer = line.peer();
            recorded.transport = line.transport();
            recorded.accepted = line.accepted();
            recorded.whyNotFaster = line.whyNotFaster();
            recorded.since = line.since();
            recorded.bytesReceived = line.bytesReceived();
            recorded.bytesSent = line.bytesSent();
            recorded.commit();
        }
    }
}
