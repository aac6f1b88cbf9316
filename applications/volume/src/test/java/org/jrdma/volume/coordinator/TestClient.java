package org.jrdma.volume.coordinator;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.PeerConnection;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.jrdma.volume.protocol.StatusReportEncoding;

/** Sends single requests to a coordinator in this process. */
final class TestClient {

    /** The key for the fence of the drive. */
    static final long KEY = 7;

    private final Coordinator coordinator;
    private final PeerConnection link;
    private final long session;
    private long lastRequest;

    private TestClient(
            Coordinator coordinator, PeerConnection link, long earlier, List<String> addresses)
            throws VolumeException {
        this.coordinator = coordinator;
        this.link = link;
        var hello = RequestHeader.of(Operation.HELLO, earlier).encoder();
        hello.writeLong(KEY);
        hello.writeText("test");
        hello.writeList(addresses, Encoder::writeText);
        this.session = ReplyEncoding.decode(send(hello)).readLong();
    }

    /** Opens a session. */
    static TestClient open(Coordinator coordinator, PeerConnection link) throws VolumeException {
        return new TestClient(coordinator, link, 0, List.of());
    }

    /** Continues a session over another connection. */
    static TestClient reconnect(TestClient earlier, PeerConnection link) throws VolumeException {
        return new TestClient(earlier.coordinator, link, earlier.session, List.of());
    }

    /** Opens a session of a server that serves blocks. */
    static TestClient openDataServer(Coordinator coordinator, PeerConnection link)
            throws VolumeException {
        return new TestClient(coordinator, link, 0, List.of("address"));
    }

    /** Extends the session. */
    void heartbeat() throws VolumeException {
        var connection = new ConnectionDescription(List.of(), "test", "test", List.of());
        var data = new DataPathState(DataPathState.Kind.NONE, Optional.empty(), "test", 0);
        var _ =
                call(
                        Operation.HEARTBEAT,
                        request ->
                                StatusReportEncoding.encode(
                                        request,
                                        new ClientReport(
                                                "test", "1", connection, Optional.empty(), data)));
    }

    long session() {
        return session;
    }

    ByteBuffer send(Encoder request) {
        return coordinator.handle(link, ByteBuffer.wrap(request.bytes()));
    }

    /** Writes the values of a request. */
    @FunctionalInterface
    interface Body {
        void encode(Encoder encoder) throws VolumeException;
    }

    /** Sends a request until the reply is not to repeat it. */
    Decoder call(Operation operation, Body body) throws VolumeException {
        var number = ++lastRequest;
        return call(new RequestHeader(operation, session, number, number), body);
    }

    /** Sends a request, and does not report that earlier ones were answered. */
    void callWithoutAcknowledgement(Operation operation, Body body) throws VolumeException {
        var _ = call(new RequestHeader(operation, session, ++lastRequest, 0), body);
    }

    private Decoder call(RequestHeader header, Body body) throws VolumeException {
        var request = header.encoder();
        body.encode(request);
        ByteBuffer reply;
        do {
            reply = send(request);
        } while (ReplyEncoding.isRetry(reply));
        return ReplyEncoding.decode(reply);
    }
}
