package org.jrdma.tck.sisci;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * The state of a peer: its node, which is opened on first use, and objects that tasks store for
 * later tasks.
 */
public final class PeerTaskState {

    private final Sisci sisci;
    private final Map<String, Object> objects = new ConcurrentHashMap<>();
    private @Nullable Node node;

    /** Creates a context that opens its node with a library. */
    public PeerTaskState(Sisci sisci) {
        this.sisci = sisci;
    }

    /** Returns the node, which is opened on first use. */
    public synchronized Node node() throws SisciException {
        if (node == null) {
            node = sisci.open();
        }
        return node;
    }

    /** Stores an object under a name. */
    public <T> T put(String name, T object) {
        objects.put(name, object);
        return object;
    }

    /** Returns the object that was stored under a name. */
    public <T> T get(String name, Class<T> type) {
        var object = objects.get(name);
        if (object == null) {
            throw new IllegalStateException("No object is stored under the name " + name);
        }
        return type.cast(object);
    }

    /** Creates, maps and offers a segment. Stores the segment and the map for later tasks. */
    public LocalMap offer(int id, long bytes) throws SisciException {
        var segment = put("segment " + id, node().newSegment(id, bytes));
        var map = put("map " + id, segment.map());
        segment.offer();
        return map;
    }

    /** Returns the segment that {@link #offer} created with an ID. */
    public LocalSegment segment(int id) {
        return get("segment " + id, LocalSegment.class);
    }

    /** Returns the map of a segment that {@link #offer} created. */
    public LocalMap memory(int id) {
        return get("map " + id, LocalMap.class);
    }

    /** Closes the node and removes all objects. */
    synchronized void close() {
        objects.clear();
        if (node != null) {
            node.close();
            node = null;
        }
    }
}
