package org.jrdma.volume.drive;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.sisci.Sisci;

/**
 * The name of a drive in a command or a setting: the path of a file, or the id of an NVMe
 * controller that another node lends, such as 0x401.
 */
public record DriveName(String text) {

    private static final Pattern DEVICE = Pattern.compile("0x[0-9a-fA-F]{1,16}");
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** Returns true for the id of a lent controller. */
    public boolean isDevice() {
        return DEVICE.matcher(text).matches();
    }

    /**
     * Opens an existing file, or the first namespace of a lent controller. A lent drive is opened
     * again when its lender was restarted, or the link to it was cut and restored. This process is
     * a host of its own, so that the drive can refuse its writes.
     *
     * @throws FabricException if the file or the controller cannot be opened
     */
    public Drive open() throws FabricException {
        return isDevice() ? borrow() : FileDrive.open(Path.of(text));
    }

    private Drive borrow() throws FabricException {
        var id = Long.parseUnsignedLong(text.substring(2), 16);
        var host = HostIdentifier.of(new SecureRandom().nextLong() | 1);
        var node = Sisci.configured().open();
        try {
            return new ReopeningDrive(
                    () -> NvmeBlockDrive.borrow(node, id, host, TIMEOUT), node::close);
        } catch (Throwable e) {
            node.close();
            throw e;
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
