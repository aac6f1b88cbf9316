package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jrdma.verbs.internal.AddressHandleFunctions;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The multicast groups that a queue pair is attached to. The queue pair must be detached from all
 * of them before it can be destroyed.
 */
public final class MulticastGroups {

    private static final Logger LOG = LoggerFactory.getLogger(MulticastGroups.class);

    private final AddressHandleFunctions functions;
    private final MemorySegment queuePair;
    private final String name;
    private final Set<Group> groups = new LinkedHashSet<>();

    private record Group(Gid gid, int lid) {}

    public MulticastGroups(AddressHandleFunctions functions, MemorySegment queuePair, String name) {
        this.functions = functions;
        this.queuePair = queuePair;
        this.name = name;
    }

    public synchronized void attach(Gid gid, int lid) throws VerbsException {
        functions.attach(queuePair, gid, lid, attempt("ibv_attach_mcast", gid));
        groups.add(new Group(gid, lid));
    }

    public synchronized void detach(Gid gid, int lid) throws VerbsException {
        functions.detach(queuePair, gid, lid, attempt("ibv_detach_mcast", gid));
        groups.remove(new Group(gid, lid));
    }

    public synchronized void detachAll() {
        for (var group : groups) {
            try {
                functions.detach(
                        queuePair, group.gid, group.lid, attempt("ibv_detach_mcast", group.gid));
            } catch (VerbsException e) {
                LOG.warn("{}", e.getMessage());
            }
        }
        groups.clear();
    }

    private CheckedCall attempt(String function, Gid gid) {
        return CheckedCall.to(function, () -> "for %s and group %s".formatted(name, gid));
    }
}
