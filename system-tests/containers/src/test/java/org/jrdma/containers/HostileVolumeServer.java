package org.jrdma.containers;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.Nvme;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.pcie.BorrowedController;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.SmartIo;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.NvmeBlockDrive;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;

/**
 * A server of a volume that can turn hostile: when the file {@link #TRIGGER} exists, it stops to
 * serve, and overwrites each block of the drive, with the identity with which it was the
 * coordinator. Prints how many writes the drive has accepted.
 */
final class HostileVolumeServer {

    /** The file that makes the program overwrite the drive. */
    static final String TRIGGER = "/tmp/overwrite";

    private static final int PORT = 7471;
    private static final int PART_BYTES = 1 << 20;
    private static final long IDENTIFIER = 77;
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private HostileVolumeServer() {}

    /** Arguments: the id of the controller, the servers, and the lease in milliseconds. */
    static void main(String... arguments) throws Exception {
        var id = Long.decode(arguments[0]);
        try (var node = Sisci.configured().open()) {
            var device = SmartIo.of(node).borrow(id, BorrowMode.EXCLUSIVE);
            var access = BorrowedController.of(node, device);
            try (var drive = open(access)) {
                var lease = Duration.ofMillis(Long.parseLong(arguments[2]));
                serve(drive, arguments[1], lease);
            }
            // the controller is reset: it has no commands of the time before
            try (var drive = open(access)) {
                overwrite(drive);
            }
        }
    }

    private static NvmeBlockDrive open(BorrowedController access) throws InterruptedException {
        while (true) {
            try {
                var options = NvmeOptions.DEFAULTS.hostIdentifier(HostIdentifier.of(IDENTIFIER));
                var drive = Nvme.open(access, options);
                return new NvmeBlockDrive(drive, drive.namespaces().getFirst(), TIMEOUT);
            } catch (FabricException e) { // the link is cut
                IO.println("cannot open the drive: " + e.getMessage());
                pause();
            }
        }
    }

    private static void serve(Drive drive, String servers, Duration lease) throws Exception {
        var options =
                ServerOptions.named("one")
                        .others(
                                Arrays.stream(servers.split(",", -1))
                                        .map(server -> List.of("sockets:" + server))
                                        .toList())
                        .node(
                                NodeOptions.of(TransportKind.VERBS, TransportKind.SOCKETS)
                                        .socketAddress(new InetSocketAddress(PORT)))
                        .lease(lease)
                        .sessionTimeout(lease);
        try (var server = VolumeServer.start(drive, options)) {
            var wasCoordinator = false;
            while (!Files.exists(Path.of(TRIGGER))) {
                if (server.isCoordinator() != wasCoordinator) {
                    wasCoordinator = !wasCoordinator;
                    IO.println(
                            wasCoordinator
                                    ? "one is the coordinator of epoch %d"
                                            .formatted(server.state().epoch())
                                    : "one is a standby");
                }
                pause();
            }
        }
        IO.println("one has stopped to serve");
    }

    /** Writes to each block, as a process that does not know that it was deposed. */
    private static void overwrite(Drive drive) throws Exception {
        var accepted = 0;
        var refused = 0;
        try (var arena = Arena.ofConfined()) {
            var part = arena.allocate(PART_BYTES, Drive.BLOCK_BYTES).fill((byte) 0xbd);
            var blocks = PART_BYTES / Drive.BLOCK_BYTES;
            for (var block = 0L; block + blocks <= drive.blocks(); ) {
                try {
                    drive.write(block, part);
                    accepted++;
                    block += blocks;
                } catch (FabricException e) {
                    if (e.getMessage().contains("reservation")) {
                        refused++;
                        block += blocks;
                    } else { // the link is cut
                        IO.println("cannot write: " + e.getMessage());
                        pause();
                    }
                }
            }
        }
        IO.println("The drive accepted %d and refused %d writes.".formatted(accepted, refused));
        new CountDownLatch(1).await(); // the end of the program would end commands on its host
    }

    private static void pause() throws InterruptedException {
        Thread.sleep(PAUSE);
    }
}
