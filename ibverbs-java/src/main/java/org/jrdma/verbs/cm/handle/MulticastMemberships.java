package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.MulticastFunctions;
import org.jrdma.verbs.model.VerbsException;

/**
 * The multicast groups that a native identifier has joined or is joining. Native events refer to a
 * group by a number, which is assigned here.
 */
public final class MulticastMemberships {

    private final MulticastFunctions functions;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, InetAddress> byNumber = new ConcurrentHashMap<>();

    /** No groups. */
    public MulticastMemberships(MulticastFunctions functions) {
        this.functions = functions;
    }

    /** Starts to join a group. */
    public void join(IdentifierCalls calls, InetAddress group, MulticastRole role)
            throws VerbsException {
        var function =
                role == MulticastRole.FULL_MEMBER
                        ? "rdma_join_multicast"
                        : "rdma_join_multicast_ex";
        calls.runOnDevice(
                function,
                attempt(function, calls, group),
                (identifier, attempt) -> {
                    var number = numbers.incrementAndGet();
                    byNumber.put(number, group); // first: the event may arrive during the call
                    var joined = false;
                    try {
                        functions.join(identifier, group, role, number, attempt);
                        joined = true;
                    } finally {
                        if (!joined) {
                            byNumber.remove(number);
                        }
                    }
                });
    }

    /** Leaves a group. */
    public void leave(IdentifierCalls calls, InetAddress group) throws VerbsException {
        calls.run(
                attempt("rdma_leave_multicast", calls, group),
                (identifier, attempt) -> functions.leave(identifier, group, attempt));
        for (var entry : byNumber.entrySet()) {
            if (entry.getValue().equals(group)) {
                byNumber.remove(entry.getKey());
                return;
            }
        }
    }

    private static Attempt attempt(String function, IdentifierCalls calls, InetAddress group) {
        return Attempt.to(
                function,
                () -> "for group %s and %s".formatted(group.getHostAddress(), calls.description()));
    }

    /** Returns the group that an event refers to. */
    public Optional<InetAddress> group(long number) {
        return Optional.ofNullable(byNumber.get(number));
    }

    /**
     * Leaves all groups, because librdmacm would not free their memory with the identifier. Throws
     * the first failure after the last attempt.
     */
    void leaveAll(MemorySegment identifier) throws VerbsException {
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
