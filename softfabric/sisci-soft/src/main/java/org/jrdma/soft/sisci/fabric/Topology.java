package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes, adapters and links of the fabric, as this process knows them from the directory. A
 * process that changes a link or the members of a group makes all processes read the directory
 * again. Safe for use by multiple threads.
 */
final class Topology {

    static final int MAX_GROUPS = 16;

    static final int FIRST_NODE = 4;
    static final int NODE_STEP = 4;
    static final int END_OF_NODES = 252;

    private static final Logger LOG = LoggerFactory.getLogger(Topology.class);
    private static final int ADAPTER_NUMBERS = 4;

    private final PeerLookupAndRequests fabric;
    private final int adapters;
    private final Collection<Listener> listeners = ConcurrentHashMap.newKeySet();
    private final Object refreshing = new Object();
    private volatile Collection<ObjectAnnouncementFile> cuts = Set.of();

    /** An object that is notified of changes of links and groups. */
    @FunctionalInterface
    interface Listener {
        /** Called when links may have been cut or restored, or groups may have new members. */
        void topologyChanged();
    }

    Topology(PeerLookupAndRequests fabric, int adapters) {
        this.fabric = fabric;
        this.adapters = adapters;
    }

    void add(Listener listener) {
        listeners.add(listener);
    }

    void remove(Listener listener) {
        listeners.remove(listener);
    }

    /** Fails if the node has no adapter with this number. */
    void checkAdapter(int adapter) {
        throwIf(
                Integer.compareUnsigned(adapter, ADAPTER_NUMBERS) >= 0,
                SCI_ERR_ILLEGAL_ADAPTERNO());
        throwIf(adapter >= adapters, SCI_ERR_NO_SUCH_ADAPTERNO());
    }

    /** Fails if a node id is invalid. */
    void checkNode(int id) {
        throwIf(id <= 0 || id >= END_OF_NODES || id % NODE_STEP != 0, SCI_ERR_ILLEGAL_NODEID());
    }

    /** Fails if the link from an adapter of this node to another node is cut. */
    void checkLink(int peer, int adapter) {
        var error = linkError(peer, adapter);
        throwIf(error != 0, error);
    }

    boolean isLinked(int peer, int adapter) {
        return linkError(peer, adapter) == 0;
    }

    private int linkError(int peer, int adapter) {
        if (peer == fabric.node()) {
            return 0;
        }
        if (isCut(fabric.node(), adapter)) {
            return SCI_ERR_NO_LINK_ACCESS();
        }
        return isCut(peer, adapter) ? SCI_ERR_NO_REMOTE_LINK_ACCESS() : 0;
    }

    boolean isCut(int node, int adapter) {
        return cuts.contains(cut(node, adapter));
    }

    private static ObjectAnnouncementFile cut(int node, int adapter) {
        return new ObjectAnnouncementFile(node, ObjectAnnouncementFile.Kind.CUT, adapter, 0);
    }

    /**
     * Cuts or restores a link of this node. All processes have been notified when this method
     * returns.
     *
     * @throws SciException if a process does not respond; all other processes have been notified
     */
    void setLink(int adapter, boolean operational) {
        checkAdapter(adapter);
        var directory = fabric.directory();
        var entry = cut(fabric.node(), adapter);
        var _ =
                SciException.translate(() ->
                        directory.locked(() -> {
                            if (operational) {
                                directory.delete(entry);
                            } else if (!directory.entries().contains(entry)) {
                                directory.mark(entry);
                            }
                            return true;
                        }));
        var unresponsive = refreshEverywhere();
        if (!unresponsive.isEmpty()) {
            throw new SciException(
                    SCI_ERR_NODE_NOT_RESPONDING(),
                    "The link is %s, but some processes do not respond and may still use the old state: %s"
                            .formatted(operational ? "restored" : "cut", unresponsive));
        }
    }

    /** Makes all processes read the directory, and returns the processes that do not respond. */
    List<ObjectAnnouncementFile> refreshEverywhere() {
        var unresponsive = new ArrayList<ObjectAnnouncementFile>();
        for (var entry : fabric.entries()) {
            if (entry.kind() != ObjectAnnouncementFile.Kind.MEMBER) {
                continue;
            }
            if (entry.node() == fabric.node() && entry.number() == fabric.number()) {
                refresh();
                continue;
            }
            var connection = fabric.find(entry);
            if (connection.isPresent()
                    && fabric.connections()
                            .request(connection.get(), Message.about(Kind.REFRESH, 0))
                            .isEmpty()
                    && !connection.get().isClosed()) {
                LOG.warn(
                        "Process {} does not respond, and may use an old state of links and groups",
                        entry);
                unresponsive.add(entry);
            }
        }
        return unresponsive;
    }

    /** Reads the directory and notifies the listeners. */
    void refresh() {
        synchronized (refreshing) {
            cuts =
                    fabric.entries().stream()
                            .filter(entry -> entry.kind() == ObjectAnnouncementFile.Kind.CUT)
                            .collect(Collectors.toSet());
            listeners.forEach(Listener::topologyChanged);
        }
    }
}
