package org.jrdma.volume.metadata;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jspecify.annotations.Nullable;

/**
 * Observes the blocks of the journal on a drive from a thread of its own. A coordinator must not
 * write a block after the first block of its successor was written.
 */
public final class StaleJournalWriteDetector implements AutoCloseable {

    private static final int PAUSE_MILLIS = 20;

    private final Drive drive;
    private final Superblock superblock;
    private final @Nullable JournalBlockHeader[][] last;
    private final List<String> violations = new ArrayList<>();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final Thread thread;
    private long newest;

    /** Starts to observe a drive, which the caller closes after this object. */
    public StaleJournalWriteDetector(Drive drive) throws FabricException {
        this.drive = drive;
        this.superblock = Superblock.read(drive);
        this.last = new @Nullable JournalBlockHeader[2][superblock.areaBlocks()];
        observe();
        violations.clear();
        this.thread = Thread.ofPlatform().name("journal-epochs").start(this::run);
    }

    private void run() {
        while (!isClosed.get()) {
            try {
                Thread.sleep(PAUSE_MILLIS);
                observe();
            } catch (FabricException | InterruptedException e) {
                synchronized (this) {
                    violations.add(e.toString());
                }
                return;
            }
        }
    }

    /** Compares all blocks with those of the previous call. */
    synchronized void observe() throws FabricException {
        var known = newest;
        for (var area = 0; area < last.length; area++) {
            var headers = last[area];
            JournalArea.of(drive, superblock, area)
                    .read(
                            0,
                            (index, block) -> {
                                var header = JournalBlockHeader.decode(block, superblock.id());
                                if (header != null && !header.equals(headers[index])) {
                                    headers[index] = header;
                                    changed(header, known);
                                }
                                return true;
                            });
        }
    }

    private void changed(JournalBlockHeader header, long known) {
        newest = Math.max(newest, header.epoch());
        if (header.epoch() < known) {
            violations.add("%s was written after epoch %d had begun".formatted(header, known));
        }
    }

    /** Returns descriptions of all blocks that were written too late. */
    public synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /** Returns the epoch of the newest block. */
    public synchronized long newest() {
        return newest;
    }

    @Override
    public void close() {
        isClosed.set(true);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
