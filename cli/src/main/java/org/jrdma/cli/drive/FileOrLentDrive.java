package org.jrdma.cli.drive;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import org.jrdma.cli.output.FabricDeviceId;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.sisci.Sisci;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.drive.NvmeBlockDrive;

/**
 * The drive of a volume that a command names: a file, or an NVMe controller that another node
 * lends.
 */
public final class FileOrLentDrive implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final Drive drive;
    private final Runnable afterwards;

    private FileOrLentDrive(Drive drive, Runnable afterwards) {
        this.drive = drive;
        this.afterwards = afterwards;
    }

    /** Returns true if a name is the id of a lent device, such as 0x401. */
    public static boolean isDevice(Path name) {
        return FabricDeviceId.FORM.matcher(name.toString()).matches();
    }

    /** Opens an existing file, or the first namespace of a lent controller. */
    public static FileOrLentDrive open(Path name) throws FabricException {
        return isDevice(name)
                ? borrow(FabricDeviceId.parse(name.toString()))
                : of(FileDrive.open(name));
    }

    /** Returns the drive that a command has created. */
    public static FileOrLentDrive of(FileDrive file) {
        return new FileOrLentDrive(file, () -> {});
    }

    /**
     * Borrows a controller. This process is a host of its own, so that the drive can refuse its
     * writes.
     */
    private static FileOrLentDrive borrow(long device) throws FabricException {
        var host = HostIdentifier.of(new SecureRandom().nextLong() | 1);
        var borrowed =
                BorrowedDrive.open(
                        Sisci.configured(), device, NvmeOptions.DEFAULTS.hostIdentifier(host));
        try {
            var drive = borrowed.drive();
            return new FileOrLentDrive(
                    new NvmeBlockDrive(drive, drive.namespaces().getFirst(), TIMEOUT),
                    borrowed::close);
        } catch (FabricException | RuntimeException e) {
            borrowed.close();
            throw e;
        }
    }

    /** Returns the drive, which is closed with this object. */
    public Drive drive() {
        return drive;
    }

    @Override
    public void close() {
        drive.close();
        afterwards.run();
    }
}
