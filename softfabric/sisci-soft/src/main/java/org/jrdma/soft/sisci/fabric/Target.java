package org.jrdma.soft.sisci.fabric;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Entry;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.host.Host;
import org.jrdma.soft.sisci.host.Mapping;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of one segment somewhere, reached by one connection: all there is to a remote segment,
 * but to a group, which has one for each member.
 */
final class Target {

    private static final Logger LOG = LoggerFactory.getLogger(Target.class);

    private final RemoteSegment segment;
    private final Entry entry;
    private final Connection connection;
    private final int number;
    private final int file;
    private final long bytes;

    /** The whole of it, for DMA and for what stores are gathered for. */
    private final Mapping window;

    private final List<Mapping> mappings = new CopyOnWriteArrayList<>();
    private boolean cut;
    private boolean closed;

    private Target(
            RemoteSegment segment,
            Entry entry,
            Connection connection,
            int number,
            int file,
            long bytes)
            throws FabricException {
        this.segment = segment;
        this.entry = entry;
        this.connection = connection;
        this.number = number;
        this.file = file;
        this.bytes = bytes;
        this.window = Mapping.of(file, 0, bytes, true);
        mappings.add(window);
    }

    /**
     * Asks its owner, and opens the file only when the owner has agreed, who cannot remove it from
     * then on without a word: before, it could be that of an earlier segment with the same id.
     */
    static Target connect(Member member, RemoteSegment segment, Entry entry, boolean toGroup) {
        var connection = member.connect(entry);
        var number = member.newNumber();
        member.add(number, segment); // what its owner says next must find it
        try {
            var answer =
                    member.ask(
                            connection,
                            Message.of(
                                    Message.Kind.CONNECT_SEGMENT,
                                    entry.number(),
                                    segment.adapter(),
                                    number,
                                    toGroup ? 1 : 0));
            var file = member.openMemory(entry, answer.value());
            try {
                return new Target(segment, entry, connection, number, file, answer.value());
            } catch (FabricException e) {
                Host.close(file);
                throw Refusal.of(e);
            }
        } catch (RuntimeException e) {
            connection.send(Message.about(Message.Kind.DISCONNECT_SEGMENT, number));
            member.removeTarget(number);
            throw e;
        }
    }

    Entry entry() {
        return entry;
    }

    Connection connection() {
        return connection;
    }

    int number() {
        return number;
    }

    long bytes() {
        return bytes;
    }

    Mapping window() {
        return window;
    }

    /** Maps a part for the program. */
    synchronized Mapping map(long offset, long length, boolean writable) throws FabricException {
        var mapping = Mapping.of(file, offset, length, writable);
        if (cut) {
            mapping.cut();
        }
        mappings.add(mapping);
        return mapping;
    }

    void unmap(Mapping mapping) {
        mappings.remove(mapping);
        mapping.close();
    }

    /** Loads give all ones, and stores go nowhere. */
    synchronized void cut() {
        if (cut || closed) {
            return;
        }
        cut = true;
        for (var mapping : mappings) {
            try {
                mapping.cut();
            } catch (FabricException e) {
                LOG.error("{} stays reachable: {}", segment, e.getMessage());
            }
        }
    }

    /** Undoes that. */
    synchronized void mend() {
        if (!cut || closed) {
            return;
        }
        cut = false;
        for (var mapping : mappings) {
            try {
                mapping.mend(file);
            } catch (FabricException e) {
                LOG.error("{} stays cut off: {}", segment, e.getMessage());
            }
        }
    }

    /** There is no way back: the memory is let go, and what is mapped stays cut. */
    synchronized void lose() {
        cut();
        if (!closed) {
            closed = true;
            Host.close(file);
        }
    }

    /** Ends it. No map of the program's is left. */
    void close() {
        connection.send(Message.about(Message.Kind.DISCONNECT_SEGMENT, number));
        synchronized (this) {
            window.close();
            if (!closed) {
                closed = true;
                Host.close(file);
            }
        }
    }
}
