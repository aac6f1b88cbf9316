package org.jrdma.nvme.soft;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.CheckReturnValue;

/**
 * The options of a {@link NvmeTarget}. Immutable: the methods return a changed copy.
 *
 * @param maxConnections the number of connections of all hosts; each connection has a thread. One
 *     address can have three quarters of them, so that one host cannot exclude all others
 * @param ioQueues the number of I/O queues of a controller
 * @param entries the number of commands that an I/O queue can have, from 2 to 1,024
 * @param inCapsuleBytes the largest data that a host can send together with a command, a multiple
 *     of 16 up to 16,384
 * @param connectTimeout the time in which a host must establish a connection, and then must send
 *     its Connect command
 * @param referrals the addresses of the discovery subsystems of other targets, at most 64. Hosts
 *     that ask for the subsystems of this target are referred to them
 */
@CheckReturnValue
public record TargetOptions(
        int maxConnections,
        int ioQueues,
        int entries,
        int inCapsuleBytes,
        Duration connectTimeout,
        List<InetSocketAddress> referrals) {

    /**
     * 256 connections, 16 I/O queues of 128 commands, 4,096 bytes in capsules, 10 seconds, no
     * referrals.
     */
    public static final TargetOptions DEFAULTS =
            new TargetOptions(256, 16, 128, 4096, Duration.ofSeconds(10), List.of());

    private static final int MAX_QUEUES = 1024;
    private static final int MAX_IN_CAPSULE = 16_384;
    private static final int CAPSULE_UNIT = 16;
    private static final int MAX_REFERRALS = 64;

    /**
     * Creates options.
     *
     * @throws IllegalArgumentException if a number is out of its range, or a referral is not an
     *     address to which a host can connect
     */
    public TargetOptions {
        require("number of connections", maxConnections, 1, Integer.MAX_VALUE);
        require("number of I/O queues", ioQueues, 1, MAX_QUEUES);
        require("number of entries", entries, 2, QueueSet.MAX_ENTRIES);
        require("number of bytes in a capsule", inCapsuleBytes, 0, MAX_IN_CAPSULE);
        if (inCapsuleBytes % CAPSULE_UNIT != 0) {
            throw new IllegalArgumentException(
                    "The number of bytes in a capsule is %d. It must be a multiple of %d."
                            .formatted(inCapsuleBytes, CAPSULE_UNIT));
        }
        require("number of referrals", referrals.size(), 0, MAX_REFERRALS);
        referrals = List.copyOf(referrals);
        referrals.forEach(TargetOptions::requireReachable);
    }

    private static void requireReachable(InetSocketAddress referral) {
        if (referral.isUnresolved()
                || referral.getAddress().isAnyLocalAddress()
                || referral.getPort() == 0) {
            throw new IllegalArgumentException(
                    "Cannot refer hosts to %s. A referral needs the IP address and the port of another target."
                            .formatted(AddressText.of(referral)));
        }
    }

    /** Returns the number of connections that one address can have. */
    int maxConnectionsOfAHost() {
        return maxConnections - maxConnections / 4;
    }

    private static void require(String name, int value, int first, int last) {
        if (value < first || value > last) {
            throw new IllegalArgumentException(
                    "The %s is %d. It must be from %d to %d.".formatted(name, value, first, last));
        }
    }

    /** Returns a copy with another {@link #maxConnections()}. */
    public TargetOptions maxConnections(int count) {
        return new TargetOptions(
                count, ioQueues, entries, inCapsuleBytes, connectTimeout, referrals);
    }

    /** Returns a copy with another {@link #ioQueues()}. */
    public TargetOptions ioQueues(int count) {
        return new TargetOptions(
                maxConnections, count, entries, inCapsuleBytes, connectTimeout, referrals);
    }

    /** Returns a copy with another {@link #entries()}. */
    public TargetOptions entries(int count) {
        return new TargetOptions(
                maxConnections, ioQueues, count, inCapsuleBytes, connectTimeout, referrals);
    }

    /** Returns a copy with another {@link #inCapsuleBytes()}. */
    public TargetOptions inCapsuleBytes(int bytes) {
        return new TargetOptions(
                maxConnections, ioQueues, entries, bytes, connectTimeout, referrals);
    }

    /** Returns a copy with another {@link #connectTimeout()}. */
    public TargetOptions connectTimeout(Duration timeout) {
        return new TargetOptions(
                maxConnections, ioQueues, entries, inCapsuleBytes, timeout, referrals);
    }

    /** Returns a copy with another {@link #referrals()}. */
    public TargetOptions referrals(List<InetSocketAddress> addresses) {
        return new TargetOptions(
                maxConnections, ioQueues, entries, inCapsuleBytes, connectTimeout, addresses);
    }
}
