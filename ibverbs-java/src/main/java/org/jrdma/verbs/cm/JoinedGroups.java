package org.jrdma.verbs.cm;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.IdentifierFunctions;
import org.jrdma.verbs.model.VerbsException;

/**
 * The groups that a native identifier is in, or is about to be. Their events name them by numbers.
 */
final class JoinedGroups {

    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, InetAddress> byNumber = new ConcurrentHashMap<>();

    void join(
            IdentifierFunctions functions,
            MemorySegment identifier,
            InetAddress group,
            MulticastRole role,
            Attempt attempt)
            throws VerbsException {
        var number = numbers.incrementAndGet();
        byNumber.put(number, group); // before the event
        var joined = false;
        try {
            functions.join(identifier, group, role, number, attempt);
            joined = true;
        } finally {
            if (!joined) {
                byNumber.remove(number);
            }
        }
    }

    void leave(
            IdentifierFunctions functions,
            MemorySegment identifier,
            InetAddress group,
            Attempt attempt)
            throws VerbsException {
        functions.leave(identifier, group, attempt);
        for (var entry : byNumber.entrySet()) {
            if (entry.getValue().equals(group)) {
                byNumber.remove(entry.getKey());
                return;
            }
        }
    }

    /** The group of an event. */
    Optional<InetAddress> group(long number) {
        return Optional.ofNullable(byNumber.get(number));
    }

    /**
     * For the end: the library would not give back what it has for them. Leaves what can be left,
     * and throws what came first.
     */
    void leaveAll(IdentifierFunctions functions, MemorySegment identifier) throws VerbsException {
        VerbsException first = null;
        for (var group : byNumber.values()) {
            try {
                functions.leave(
                        identifier,
                        group,
                        Attempt.to("rdma_leave_multicast", () -> "for " + group));
            } catch (VerbsException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        byNumber.clear();
        if (first != null) {
            throw first;
        }
    }
}
