package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.MulticastJoinFunctions;
import org.jrdma.verbs.model.VerbsException;

/**
 * The multicast groups that an {@code rdma_cm_id} has joined or is joining. Each group has a
 * number, which the native events of the group contain.
 */
public final class MulticastMemberships {

    private final MulticastJoinFunctions functions;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, InetAddress> byNumber = new ConcurrentHashMap<>();

    /** Creates the object without any groups. */
    public MulticastMemberships(MulticastJoinFunctions functions) {
        this.functions = functions;
    }

    /** Starts to join a group. An event reports the result. */
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
                    byNumber.put(number, group); // The event may arrive before the call returns.
                    try {
                        functions.join(identifier, group, role, number, attempt);
                    } catch (Throwable e) {
                        byNumber.remove(number);
                        throw e;
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

    private static CheckedCall attempt(String function, IdentifierCalls calls, InetAddress group) {
        return CheckedCall.to(
                function,
                () -> "for group %s and %s".formatted(group.getHostAddress(), calls.description()));
    }

    /**
     * Returns the group with the number in an event; empty if the {@code rdma_cm_id} has left the
     * group.
     */
    public Optional<InetAddress> group(long number) {
        return Optional.ofNullable(byNumber.get(number));
    }

    /**
     * Leaves all groups. Called before the {@code rdma_cm_id} is destroyed, because librdmacm would
     * otherwise not free the memory of its groups. If leaving a group fails, the method continues
     * with the remaining groups.
     *
     * @throws VerbsException the first failure, with the later failures as suppressed exceptions
     */
    void leaveAll(MemorySegment identifier) throws VerbsException {
        VerbsException first = null;
        for (var group : byNumber.values()) {
            try {
                functions.leave(
                        identifier,
                        group,
                        CheckedCall.to(
                                "rdma_leave_multicast", () -> "for " + group.getHostAddress()));
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
