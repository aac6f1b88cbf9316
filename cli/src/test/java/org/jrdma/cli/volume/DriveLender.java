package org.jrdma.cli.volume;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.device.DeviceBus;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.jrdma.soft.sisci.device.DeviceModel;
import org.jrdma.volume.drive.Drive;

/**
 * A program that lends an NVMe drive through several controllers. The content is in a file, so that
 * it is still there after the program was killed.
 */
final class DriveLender {

    private static final int CONTROLLERS = 3;

    private DriveLender() {}

    /** A controller that pauses after each group of commands. */
    private record SlowController(DeviceModel controller, long pauseNanos) implements DeviceModel {
        @Override
        public DeviceIdentity identity() {
            return controller.identity();
        }

        @Override
        public List<Integer> barBytes() {
            return controller.barBytes();
        }

        @Override
        public void attach(DeviceBus bus) {
            controller.attach(bus);
        }

        @Override
        public boolean poll() {
            var isBusy = controller.poll();
            if (isBusy) {
                LockSupport.parkNanos(pauseNanos);
            }
            return isBusy;
        }

        @Override
        public void detached(int borrower) {
            controller.detached(borrower);
        }

        @Override
        public void reset() {
            controller.reset();
        }
    }

    /** Arguments: the file, its blocks, and the pause of the controllers in milliseconds. */
    public static void main(String... arguments) throws Exception {
        var blocks = Long.parseLong(arguments[1]);
        var pauseNanos = Long.parseLong(arguments[2]) * 1_000_000;
        var subsystem = new Subsystem("lender", "drive of a test");
        var _ =
                subsystem.addNamespace(
                        BlockStorage.inFile(Path.of(arguments[0]), blocks, Drive.BLOCK_BYTES));
        var library = new SoftSisci();
        try (var _ = Sisci.from(library).open()) {
            for (var i = 0; i < CONTROLLERS; i++) {
                var _ = library.lend(new SlowController(subsystem.newController(), pauseNanos));
            }
            System.out.println("The drive is lent.");
            Thread.sleep(Long.MAX_VALUE);
        }
    }
}
