package org.jrdma.volume.metadata;

import java.util.Map;
import java.util.TreeMap;
import org.jrdma.volume.model.VolumeException;

/** The part of a session that survives a takeover: its client, and its recent replies. */
public final class SessionRecord {

    /** The largest number of requests of a session that can be pending. */
    public static final int MAX_PENDING = 64;

    /** The largest number of bytes that {@link #encode} writes. */
    static final int MAX_BYTES =
            2 * Long.BYTES
                    + 2 * Integer.BYTES
                    + Names.MAX_BYTES
                    + MAX_PENDING * (Long.BYTES + Integer.BYTES + JournalEntry.MAX_REPLY);

    private final long id;
    private final long key;
    private final String name;
    private final TreeMap<Long, byte[]> replies = new TreeMap<>();

    SessionRecord(long id, long key, String name) {
        this.id = id;
        this.key = key;
        this.name = name;
    }

    /** Returns the number of the session. */
    public long id() {
        return id;
    }

    /** Returns the key of the node for the fence of the drive. */
    public long key() {
        return key;
    }

    /** Returns the name of the client for messages. */
    public String name() {
        return name;
    }

    /** Returns the replies to requests that may be repeated, by the numbers of the requests. */
    public Map<Long, byte[]> replies() {
        return replies;
    }

    void add(long request, long answered, byte[] reply) {
        replies.headMap(answered).clear();
        replies.put(request, reply);
        while (replies.size() > MAX_PENDING) {
            replies.pollFirstEntry();
        }
    }

    void encode(Encoder encoder) {
        encoder.writeLong(id);
        encoder.writeLong(key);
        encoder.writeText(name);
        encoder.writeList(
                replies.entrySet(),
                (target, entry) -> {
                    target.writeLong(entry.getKey());
                    target.writeBytes(entry.getValue());
                });
    }

    static SessionRecord decode(Decoder decoder) throws VolumeException {
        var record =
                new SessionRecord(
                        decoder.readLong(), decoder.readLong(), decoder.readText(Names.MAX_BYTES));
        for (var reply :
                decoder.readList(
                        MAX_PENDING,
                        source ->
                                Map.entry(
                                        source.readLong(),
                                        source.readBytes(JournalEntry.MAX_REPLY)))) {
            record.replies.put(reply.getKey(), reply.getValue());
        }
        return record;
    }
}
