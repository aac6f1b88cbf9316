package org.jrdma.volume.history;

import java.io.IOException;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.volume.drive.Drive;

/**
 * A node that lends the drive of the volume in a process of its own: a software NVMe drive with a
 * controller for each host.
 */
final class LenderProcess extends JavaProcess {

    private static final int CONTROLLERS = 12;
    private static final String LENT = "The drive is lent";

    LenderProcess(HistoryVolume volume) throws IOException {
        super(volume.folder().resolve("lender.log"), LenderProcess.class, volume.arguments());
    }

    /** Waits until the drive can be borrowed. */
    void awaitLent() throws InterruptedException {
        await(LENT, HistoryVolume.RETRY_TIMEOUT, () -> contains(LENT) || !isAlive());
    }

    private boolean contains(String line) {
        try {
            return newLines().contains(line);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Arguments: those of the volume. */
    public static void main(String... arguments) throws Exception {
        endWithInput();
        var volume = HistoryVolume.of(arguments);
        var library = new SoftSisci(SoftSisciOptions.in(volume.fabric()));
        var node = Sisci.from(library).open();
        var subsystem = new Subsystem("history", "drive of a volume");
        var _ =
                subsystem.addNamespace(
                        BlockStorage.inFile(
                                volume.driveFile(), HistoryVolume.BLOCKS, Drive.BLOCK_BYTES));
        for (var i = 0; i < CONTROLLERS; i++) {
            var _ = library.lend(subsystem.newController());
        }
        System.out.println(LENT);
        Thread.currentThread().join();
        node.close();
    }
}
