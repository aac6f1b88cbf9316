package org.jrdma.tck.sisci;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/** A node, opened when first asked for, and what {@link Work} has left there for other work. */
public final class Party {

    private final Sisci sisci;
    private final Map<String, Object> kept = new ConcurrentHashMap<>();
    private @Nullable Node node;

    /** One that opens its node of a library. */
    public Party(Sisci sisci) {
        this.sisci = sisci;
    }

    /** Its node. */
    public synchronized Node node() throws SisciException {
        if (node == null) {
            node = sisci.open();
        }
        return node;
    }

    /** Leaves something under a name. */
    public <T> T keep(String name, T object) {
        kept.put(name, object);
        return object;
    }

    /** What was left under a name. */
    public <T> T kept(String name, Class<T> type) {
        var object = kept.get(name);
        if (object == null) {
            throw new IllegalStateException("Nobody has kept a " + name);
        }
        return type.cast(object);
    }

    /** Makes a segment, maps and offers it, and keeps both. */
    public LocalMap offer(int id, long bytes) throws SisciException {
        var segment = keep("segment " + id, node().newSegment(id, bytes));
        var map = keep("map " + id, segment.map());
        segment.offer();
        return map;
    }

    /** A segment that was offered. */
    public LocalSegment segment(int id) {
        return kept("segment " + id, LocalSegment.class);
    }

    /** Its memory. */
    public LocalMap memory(int id) {
        return kept("map " + id, LocalMap.class);
    }

    /** Closes all, and forgets. */
    synchronized void close() {
        kept.clear();
        if (node != null) {
            node.close();
            node = null;
        }
    }
}
