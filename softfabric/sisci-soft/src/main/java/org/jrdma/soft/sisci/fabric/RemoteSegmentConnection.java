package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.host.Mapping;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process's side of a connection to a segment, which another process or this process owns, and
 * its maps of that segment. Safe for use by multiple threads.
 */
final class RemoteSegmentConnection {

    private static final Logger LOG = LoggerFactory.getLogger(RemoteSegmentConnection.class);

    private final ObjectAnnouncementFile entry;
    private final Connection connection;
    private final int number;
    private final int file;
    private final long bytes;

    /** A map of the whole segment, for DMA and for write buffers. */
    private final Mapping window;

    private final List<Mapping> mappings = new CopyOnWriteArrayList<>();
    private boolean cut;
    private boolean closed;

    private RemoteSegmentConnection(
            ObjectAnnouncementFile entry,
            Connection connection,
            int number,
            PeerLookupAndRequests.SharedMemory memory)
            throws FabricException {
        this.entry = entry;
        this.connection = connection;
        this.number = number;
        this.file = memory.descriptor();
        this.bytes = memory.bytes();
        this.window = Mapping.of(file, 0, bytes, true);
        try {
            mappings.add(window);
        } catch (Throwable e) {
            window.close();
            throw e;
        }
    }

    /**
     * Connects to a segment. From then on, the owner sends a message before it removes the segment.
     *
     * @param object the object that receives the messages of the owner
     * @param request a function that creates the request from the number of the connection
     */
    static RemoteSegmentConnection connect(
            ProcessContext context,
            IncomingPeerMessageDispatcher.ConnectedObject object,
            ObjectAnnouncementFile entry,
            IntFunction<Message> request) {
        var fabric = context.fabric();
        var connection = fabric.connect(entry);
        var number = context.objects().newNumber();
        // The object is added before the request is sent, because messages from the owner may
        // follow the response.
        context.objects().add(number, connection, object);
        try {
            var memory = fabric.requestMemory(connection, request.apply(number));
            try {
                return new RemoteSegmentConnection(entry, connection, number, memory);
            } catch (FabricException e) {
                SystemCalls.close(memory.descriptor());
                throw SciException.of(e);
            } catch (RuntimeException | Error e) {
                SystemCalls.close(memory.descriptor());
                throw e;
            }
        } catch (Throwable e) {
            context.objects().remove(number);
            connection.send(Message.about(Kind.DISCONNECT_SEGMENT, number));
            throw e;
        }
    }

    ObjectAnnouncementFile entry() {
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

    /**
     * Duplicates the descriptor of the memory. The caller must close the duplicate. Fails if the
     * connection is lost.
     */
    synchronized int duplicate() {
        throwIf(closed, SCI_ERR_SEGMENT_NOT_CONNECTED());
        return SciException.translate(() -> LinuxCalls.duplicate(file));
    }

    /**
     * Reports a store to the owner, which triggers the interrupt flag at the offset, if any.
     *
     * @param counted true if the store incremented the word
     */
    void reportStore(long offset, boolean counted) {
        connection.send(Message.of(Kind.FLAG_STORED, number, counted ? 1 : 0, 0, offset));
    }

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

    /**
     * Disconnects the maps from the memory until the link is restored: loads return all ones, and
     * stores are lost.
     */
    synchronized void cut() {
        if (cut || closed) {
            return;
        }
        cut = true;
        for (var mapping : mappings) {
            try {
                mapping.cut();
            } catch (FabricException e) {
                LOG.error("Cannot cut the maps of {}: {}", entry, e.getMessage());
            }
        }
    }

    synchronized void restore() {
        if (!cut || closed) {
            return;
        }
        cut = false;
        for (var mapping : mappings) {
            try {
                mapping.restore(file);
            } catch (FabricException e) {
                LOG.error("Cannot restore the maps of {}: {}", entry, e.getMessage());
            }
        }
    }

    /** Disconnects the maps from the memory permanently and closes the file. */
    synchronized void lose() {
        cut();
        if (!closed) {
            closed = true;
            SystemCalls.close(file);
        }
    }

    /** Disconnects from the segment. The program must have unmapped all its maps of the segment. */
    void close() {
        synchronized (this) {
            window.close();
            if (!closed) {
                closed = true;
                SystemCalls.close(file);
            }
        }
        connection.send(Message.about(Kind.DISCONNECT_SEGMENT, number));
    }
}
