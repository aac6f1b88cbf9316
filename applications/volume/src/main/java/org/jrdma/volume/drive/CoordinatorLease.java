package org.jrdma.volume.drive;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;

/**
 * The record on a drive that determines which node is the coordinator.
 *
 * <p>The holder renews the record several times during the {@linkplain #duration() duration} of the
 * lease. Another node may take the record when it was unchanged for one and a half durations on the
 * clock of that node. The clocks of the nodes need the same rate, not the same time. A holder that
 * did not renew in time has lost its role, and {@link #check()} throws.
 *
 * <p>Two blocks are written alternately, so that an interrupted write leaves one valid record. Safe
 * for use by multiple threads.
 */
public final class CoordinatorLease {

    /** The number of blocks of the record. */
    public static final int BLOCKS = 2;

    private static final long MAGIC = 0x3165_7361_656C_766AL; // "jvlease1"
    private static final int CHECKSUM_OFFSET = 56;
    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * The timeouts of a coordinator, in milliseconds. They are equal on all nodes while there are
     * sessions. Otherwise, a node could take the record before its holder has noticed the loss of
     * its role, or end a session before its client has.
     *
     * @param lease the duration of the lease
     * @param session the time after which a client that sends no heartbeat loses its session
     */
    public record Timeouts(int lease, int session) {

        /** The timeouts of a volume without sessions. */
        private static final Timeouts NONE = new Timeouts(0, 0);

        /** Truncates durations to milliseconds. */
        public static Timeouts of(Duration lease, Duration session) {
            return new Timeouts(
                    Math.toIntExact(lease.toMillis()), Math.toIntExact(session.toMillis()));
        }
    }

    /**
     * The content of the record.
     *
     * @param sequence increases with each write
     * @param epoch the number of the term, which increases with each takeover
     * @param nonce a random number that distinguishes nodes that take the record at the same time
     * @param key the key of the holder for the {@link Fence} of the drive
     * @param timeouts the timeouts of the holder; zero after it has ended without sessions
     * @param isReleased true if the holder has ended its term
     */
    public record Content(
            long sequence,
            long epoch,
            long nonce,
            long key,
            Timeouts timeouts,
            boolean isReleased) {

        private boolean isBefore(Content other) {
            return epoch < other.epoch || (epoch == other.epoch && sequence < other.sequence);
        }

        private Content next(long number, Timeouts newTimeouts, boolean isLast) {
            return new Content(number, epoch, nonce, key, newTimeouts, isLast);
        }

        private void encode(MemorySegment block) {
            var buffer = block.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            buffer.putLong(MAGIC).putLong(sequence).putLong(epoch).putLong(nonce).putLong(key);
            buffer.putLong(isReleased ? 1 : 0).putInt(timeouts.lease).putInt(timeouts.session);
            buffer.putInt(CHECKSUM_OFFSET, BlockChecksum.of(block, CHECKSUM_OFFSET));
        }

        private static @Nullable Content decode(MemorySegment block) {
            var buffer = block.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            if (buffer.getLong() != MAGIC
                    || buffer.getInt(CHECKSUM_OFFSET) != BlockChecksum.of(block, CHECKSUM_OFFSET)) {
                return null;
            }
            var sequence = buffer.getLong();
            var epoch = buffer.getLong();
            var nonce = buffer.getLong();
            var key = buffer.getLong();
            var isReleased = buffer.getLong() != 0;
            var timeouts = new Timeouts(buffer.getInt(), buffer.getInt());
            return new Content(sequence, epoch, nonce, key, timeouts, isReleased);
        }
    }

    private final Drive drive;
    private final long firstBlock;
    private final Timeouts timeouts;
    private final Duration duration;

    private @Nullable Content observed;
    private long observedSince;
    private long lastRead;
    private @Nullable Content own;
    private volatile long renewedAt;
    private volatile boolean isHolder;

    /** Uses the record at a block of a drive. */
    public CoordinatorLease(Drive drive, long firstBlock, Timeouts timeouts) {
        this.drive = drive;
        this.firstBlock = firstBlock;
        this.timeouts = timeouts;
        this.duration = Duration.ofMillis(timeouts.lease);
    }

    /** Uses the record at a block of a drive, for a program that does not take it. */
    public CoordinatorLease(Drive drive, long firstBlock) {
        this(drive, firstBlock, Timeouts.NONE);
    }

    /** Returns the time after which a holder that does not renew loses its role. */
    public Duration duration() {
        return duration;
    }

    /**
     * Writes a record that any node can take.
     *
     * @throws FabricException if the drive fails
     */
    public void format() throws FabricException {
        for (var sequence = 0; sequence < BLOCKS; sequence++) { // also those of a former volume
            write(new Content(sequence, 0, 0, 0, Timeouts.NONE, true));
        }
        drive.flush();
    }

    /**
     * Reads the record.
     *
     * @return empty if the drive has no valid record
     * @throws FabricException if the drive fails
     */
    public Optional<Content> read() throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var blocks = arena.allocate((long) BLOCKS * Drive.BLOCK_BYTES);
            drive.read(firstBlock, blocks);
            @Nullable Content newest = null;
            for (var i = 0; i < BLOCKS; i++) {
                var content =
                        Content.decode(
                                blocks.asSlice((long) i * Drive.BLOCK_BYTES, Drive.BLOCK_BYTES));
                if (content != null && (newest == null || newest.isBefore(content))) {
                    newest = content;
                }
            }
            return Optional.ofNullable(newest);
        }
    }

    /**
     * Observes the record. The caller repeats this several times during {@link #duration()}.
     *
     * @return true if the record can be taken: its holder has released it, or did not renew it in
     *     time
     * @throws VolumeException if the drive has no record, or another node holds it with other
     *     timeouts
     * @throws FabricException if the drive fails
     */
    public synchronized boolean observe() throws FabricException {
        var before = System.nanoTime();
        var content =
                read().orElseThrow(() ->
                        new VolumeException(
                                "%s has no valid lease record. Is it a volume?".formatted(drive)));
        var now = System.nanoTime();
        lastRead = before;
        if (!content.equals(observed)) {
            observed = content;
            observedSince = now;
        }
        checkTimeouts(content);
        return content.isReleased() || before - observedSince > duration.toNanos() * 3 / 2;
    }

    private void checkTimeouts(Content content) throws VolumeException {
        if (!content.timeouts.equals(Timeouts.NONE) && !content.timeouts.equals(timeouts)) {
            throw new VolumeException(
                    Failure.INVALID,
                    "The last coordinator had a lease of %d ms and a session timeout of %d ms. This server has %d ms and %d ms. All servers need equal values. To change them, start the servers with the former values, and stop all clients and then the servers."
                            .formatted(
                                    content.timeouts.lease,
                                    content.timeouts.session,
                                    timeouts.lease,
                                    timeouts.session));
        }
    }

    /**
     * Tries to take the record after {@link #observe()} has returned true. Takes a quarter of the
     * duration, during which another node that does the same is noticed.
     *
     * @param key the key of this node for the fence
     * @return the content that this node has written; empty if another node was faster
     * @throws FabricException if the drive fails
     * @throws InterruptedException if the thread is interrupted
     */
    public Optional<Content> tryTake(long key) throws FabricException, InterruptedException {
        var previous = observed().orElseThrow();
        var content =
                new Content(
                        previous.sequence() + 1,
                        previous.epoch() + 1,
                        RANDOM.nextLong(),
                        key,
                        timeouts,
                        false);
        var settle = duration.dividedBy(4);
        var started = System.nanoTime();
        write(content);
        if (System.nanoTime() - lastRead > settle.toNanos() / 2) {
            return Optional.empty(); // another node may have taken it since this node has read it
        }
        drive.flush(); // an epoch must not be used twice; renewals need not be durable
        Thread.sleep(settle);
        synchronized (this) {
            if (!read().equals(Optional.of(content))) {
                return Optional.empty();
            }
            own = content;
            renewedAt = started;
            isHolder = true;
            return Optional.of(content);
        }
    }

    /** Returns true if the record has changed within half a lease, and was not released. */
    public synchronized boolean isRenewed() {
        var content = observed;
        return content != null
                && !content.isReleased()
                && System.nanoTime() - observedSince < duration.toNanos() / 2;
    }

    /** Returns the content that {@link #observe()} has read last; empty before the first call. */
    public synchronized Optional<Content> observed() {
        return Optional.ofNullable(observed);
    }

    /**
     * Renews the lease of this node.
     *
     * @throws VolumeException if this node is not the holder, or has lost its role
     * @throws FabricException if the drive fails
     */
    public synchronized void renew() throws FabricException {
        check();
        var started = System.nanoTime();
        var current = read();
        var mine = java.util.Objects.requireNonNull(own);
        if (current.isPresent() && current.get().epoch() > mine.epoch()) {
            isHolder = false;
            throw new VolumeException(
                    "Another node has become the coordinator in epoch %d. This node has lost epoch %d."
                            .formatted(current.get().epoch(), mine.epoch()));
        }
        var next = mine.next(Math.max(mine.sequence(), sequence(current)) + 1, timeouts, false);
        check();
        write(next);
        own = next;
        renewedAt = started;
    }

    /**
     * Ends the role of this node, so that another node can take the record at once.
     *
     * @param hasSessions true if clients may use the drives until their sessions end
     * @throws VolumeException if this node has lost its role
     * @throws FabricException if the drive fails
     */
    public synchronized void release(boolean hasSessions) throws FabricException {
        if (isHolder && own != null) {
            check(); // otherwise, the record of another node could be overwritten
            isHolder = false;
            write(own.next(own.sequence() + 1, hasSessions ? timeouts : Timeouts.NONE, true));
        }
    }

    private static long sequence(Optional<Content> content) {
        return content.map(Content::sequence).orElse(0L);
    }

    /**
     * Checks that no other node can have become the coordinator. The holder calls this before each
     * write to the drive, and before each acknowledgement.
     *
     * @throws VolumeException if this node is not the holder, or did not renew in time
     */
    public void check() throws VolumeException {
        if (!isHolder || System.nanoTime() - renewedAt > duration.toNanos()) {
            throw new VolumeException(
                    "This node is not the coordinator: its lease of %s was not renewed in time"
                            .formatted(duration));
        }
    }

    private void write(Content content) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var block = arena.allocate(Drive.BLOCK_BYTES);
            content.encode(block);
            drive.write(firstBlock + content.sequence() % BLOCKS, block);
        }
    }
}
