package org.jrdma.volume.drive;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A drive that is opened again after it was lost, such as a borrowed drive whose lender was
 * restarted.
 *
 * <p>An access that fails is not repeated. The next access first reads a block. If that fails, too,
 * it closes the drive and opens it again, which can take as long as both.
 *
 * <p>The {@link #fence()} does not register its key again: a node may have been excluded meanwhile.
 *
 * <p>Data is always copied: the memory of a drive ends with the drive, so {@link #newMemory}
 * returns other memory, which remains valid when the drive is opened again.
 *
 * <p>Owns the drive that is open.
 */
public final class ReopeningDrive implements Drive {

    private static final Logger LOG = LoggerFactory.getLogger(ReopeningDrive.class);

    /** Opens the drive. */
    @FunctionalInterface
    public interface Opener {
        /**
         * Opens the drive, which always has the same content.
         *
         * @throws FabricException if the drive cannot be opened at this time
         */
        Drive open() throws FabricException;
    }

    @FunctionalInterface
    private interface Access<T> {
        T run(Drive drive) throws FabricException;
    }

    private final Opener opener;
    private final Runnable afterwards;
    private final long blocks;
    private final String serialNumber;
    private final String name;
    private final Fence fence = new CurrentFence();

    /** Null while the drive is lost. */
    private volatile @Nullable Drive current;

    /** The drive whose last access has failed; null if there is none. */
    private volatile @Nullable Drive failed;

    private boolean isClosed;

    /**
     * Opens a drive.
     *
     * @throws FabricException if the drive cannot be opened
     */
    public ReopeningDrive(Opener opener) throws FabricException {
        this(opener, () -> {});
    }

    /**
     * Opens a drive.
     *
     * @param afterwards closes the resources of the opener after the drive was closed
     * @throws FabricException if the drive cannot be opened
     */
    public ReopeningDrive(Opener opener, Runnable afterwards) throws FabricException {
        this.opener = opener;
        this.afterwards = afterwards;
        var drive = opener.open();
        this.blocks = drive.blocks();
        this.serialNumber = drive.serialNumber();
        this.name = drive.toString();
        this.current = drive;
    }

    @Override
    public long blocks() {
        return blocks;
    }

    @Override
    public void read(long block, MemorySegment target) throws FabricException {
        Drive.checkRange(this, block, target);
        run(drive -> drive.read(block, target));
    }

    @Override
    public void write(long block, MemorySegment source) throws FabricException {
        Drive.checkRange(this, block, source);
        run(drive -> drive.write(block, source));
    }

    @Override
    public void flush() throws FabricException {
        run(Drive::flush);
    }

    @FunctionalInterface
    private interface Action {
        void run(Drive drive) throws FabricException;
    }

    private void run(Action action) throws FabricException {
        var _ =
                access(drive -> {
                    action.run(drive);
                    return true;
                });
    }

    private <T> T access(Access<T> access) throws FabricException {
        var drive = usable();
        try {
            return access.run(drive);
        } catch (FabricException e) {
            failed = drive;
            throw e;
        } catch (IllegalStateException e) {
            if (drive == current) {
                throw e;
            }
            throw new VolumeException(
                    "%s was closed during an access, because another access has failed"
                            .formatted(name),
                    e);
        }
    }

    private Drive usable() throws FabricException {
        var drive = current;
        return drive != null && drive != failed ? drive : reopen();
    }

    private synchronized Drive reopen() throws FabricException {
        if (isClosed) {
            throw new IllegalStateException(name + " is closed");
        }
        var drive = current;
        if (drive != null && (drive != failed || responds(drive))) {
            failed = null;
            return drive;
        }
        current = null;
        failed = null;
        if (drive != null) {
            drive.close();
        }
        var opened = opener.open();
        if (opened.blocks() != blocks || !opened.serialNumber().equals(serialNumber)) {
            opened.close();
            throw new VolumeException(
                    "%s has %d blocks and the serial number \"%s\". The drive that was lost has %d and \"%s\"."
                            .formatted(
                                    opened,
                                    opened.blocks(),
                                    opened.serialNumber(),
                                    blocks,
                                    serialNumber));
        }
        LOG.info("Opened {} again", opened);
        current = opened;
        return opened;
    }

    private static boolean responds(Drive drive) {
        try (var arena = Arena.ofConfined()) {
            drive.read(0, arena.allocate(BLOCK_BYTES));
            return true;
        } catch (FabricException e) {
            LOG.info("{} is lost: {}", drive, e.getMessage());
            return false;
        }
    }

    @Override
    public String serialNumber() {
        return serialNumber;
    }

    /** Returns the fence of the drive that is open. */
    @Override
    public Fence fence() {
        return fence;
    }

    private final class CurrentFence implements Fence {

        @Override
        public void register(long key) throws FabricException {
            run(drive -> drive.fence().register(key));
        }

        @Override
        public void unregister(long key) throws FabricException {
            run(drive -> drive.fence().unregister(key));
        }

        @Override
        public void lead(long key, long predecessor) throws FabricException {
            run(drive -> drive.fence().lead(key, predecessor));
        }

        @Override
        public boolean exclude(long key) throws FabricException {
            return access(drive -> drive.fence().exclude(key));
        }

        @Override
        public void excludeUnknown(Set<Long> known) throws FabricException {
            run(drive -> drive.fence().excludeUnknown(known));
        }

        @Override
        public String toString() {
            return "fence of " + name;
        }
    }

    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        var drive = current;
        current = null;
        if (drive != null) {
            drive.close();
        }
        afterwards.run();
    }

    @Override
    public String toString() {
        return name;
    }
}
