package org.jrdma.volume.client;

import java.nio.ByteBuffer;
import java.util.List;
import org.jrdma.volume.protocol.Operation;

/**
 * The calls of a {@link ClientSession} that concern all open files: reports of leases, recalls, and
 * the end of the session.
 */
interface SessionFileCallbacks {

    /** The values of a request. */
    @SuppressWarnings("ArrayRecordComponent") // reports are not compared
    record Report(Operation operation, byte[] body) {}

    /** Returns requests that report the leases, reserved blocks and locks of all open files. */
    List<Report> reports();

    /** Reports that the session has ended, and with it all leases and locks. */
    void sessionLost();

    /** Returns a lease, or commits the data written under it. */
    ByteBuffer recall(ByteBuffer request);
}
