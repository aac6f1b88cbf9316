package org.jrdma.volume.metadata;

import java.util.List;
import org.jrdma.volume.model.VolumeException;

/**
 * The changes of one request, and its reply. They become durable together, so that a request that
 * is repeated after a takeover is answered and not executed again.
 *
 * @param session the session of the request; 0 if no client has requested the changes
 * @param request the number of the request in its session
 * @param answered all requests with smaller numbers were answered, and will not be repeated
 * @param reply the reply
 * @param changes the changes in the order of their execution
 */
@SuppressWarnings("ArrayRecordComponent") // entries are not compared
public record JournalEntry(
        long session, long request, long answered, byte[] reply, List<Change> changes) {

    /** The largest number of bytes of a reply that is stored. */
    public static final int MAX_REPLY = 64;

    private static final int MAX_CHANGES = 16;

    /** Checks the reply, for which snapshots reserve space. */
    public JournalEntry {
        if (reply.length > MAX_REPLY) {
            throw new IllegalArgumentException(
                    "A reply has %d bytes. The limit is %d.".formatted(reply.length, MAX_REPLY));
        }
    }

    /** Creates an entry for changes that no client has requested. */
    public static JournalEntry of(Change... changes) {
        return new JournalEntry(0, 0, 0, new byte[0], List.of(changes));
    }

    /** Writes this entry. */
    public void encode(Encoder encoder) {
        encoder.writeLong(session);
        encoder.writeLong(request);
        encoder.writeLong(answered);
        encoder.writeBytes(reply);
        encoder.writeList(changes, (target, change) -> change.encode(target));
    }

    /** Reads an entry. */
    public static JournalEntry decode(Decoder decoder) throws VolumeException {
        return new JournalEntry(
                decoder.readLong(),
                decoder.readLong(),
                decoder.readLong(),
                decoder.readBytes(MAX_REPLY),
                decoder.readList(MAX_CHANGES, Change::decode));
    }
}
