package org.jrdma.nvme;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.DiscoveryEntry;
import org.jrdma.nvme.model.DiscoveryLog;

/**
 * Reads the discovery logs of a target and of the targets to which it refers, the nearest first.
 * Reads each address once, because targets can refer to each other.
 */
final class ReferralFollower {

    /** The number of referrals from the first target to the last one. */
    static final int MAX_DEPTH = 4;

    /** The number of targets, which limits the time for a target that makes up referrals. */
    static final int MAX_TARGETS = 32;

    /** Reads the discovery log of one target. */
    @FunctionalInterface
    interface LogReader {
        DiscoveryLog read(InetSocketAddress target) throws FabricException;
    }

    private record Pending(DiscoveryEntry referral, InetSocketAddress target, int depth) {}

    private final LogReader reader;
    private final Set<InetSocketAddress> targets = new HashSet<>();
    private final Queue<Pending> pending = new ArrayDeque<>();
    private final Set<DiscoveryEntry> entries = new LinkedHashSet<>();
    private final Map<DiscoveryEntry, String> unfollowed = new LinkedHashMap<>();

    private ReferralFollower(LogReader reader) {
        this.reader = reader;
    }

    /**
     * Reads all logs.
     *
     * @throws FabricException if the log of the first target cannot be read, or the thread was
     *     interrupted
     */
    static Discovery discover(InetSocketAddress first, LogReader reader) throws FabricException {
        var follower = new ReferralFollower(reader);
        follower.targets.add(first);
        follower.read(first, 0);
        follower.readPending();
        return new Discovery(
                List.copyOf(follower.entries),
                follower.unfollowed.entrySet().stream()
                        .map(each ->
                                new Discovery.UnfollowedReferral(each.getKey(), each.getValue()))
                        .toList());
    }

    private void read(InetSocketAddress target, int depth) throws FabricException {
        for (var entry : reader.read(target).entries()) {
            if (entries.add(entry) && entry.kind() == DiscoveryEntry.REFERRAL) {
                add(entry, depth + 1);
            }
        }
    }

    private void add(DiscoveryEntry referral, int depth) {
        var target = referral.rdmaAddress();
        if (target.isEmpty()) {
            unfollowed.put(referral, "The entry does not name an IP address and a port for RDMA.");
        } else if (targets.contains(target.get())) {
            return; // it was read, or is pending
        } else if (depth > MAX_DEPTH) {
            unfollowed.put(
                    referral, "The target is more than %d referrals away.".formatted(MAX_DEPTH));
        } else if (targets.size() == MAX_TARGETS) {
            unfollowed.put(referral, "There are more than %d targets.".formatted(MAX_TARGETS));
        } else {
            targets.add(target.get());
            pending.add(new Pending(referral, target.get(), depth));
        }
    }

    private void readPending() throws FabricException {
        for (var next = pending.poll(); next != null; next = pending.poll()) {
            try {
                read(next.target(), next.depth());
            } catch (FabricException e) {
                if (Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                unfollowed.put(next.referral(), String.valueOf(e.getMessage()));
            }
        }
    }
}
