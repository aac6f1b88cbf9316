package org.jrdma.volume.history;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client in a process of its own. It operates on the volume, and executes the commands of {@link
 * ClientProcess}, which arrive on its standard input.
 */
final class ClientProgram {

    private static final Logger LOG = LoggerFactory.getLogger(ClientProgram.class);
    private static final FilePath FILLER = FilePath.of("/filler");
    private static final int LARGE_PART = 256 * 1024;

    /**
     * A small part of the blocks that the filler used, and more than the other clients need at a
     * time.
     */
    private static final long FREED_BLOCKS = HistoryVolume.BLOCKS / 16;

    private static final int PAUSE_MILLIS = 5;

    private final SoftSisci fabric;
    private final VolumeClient client;
    private final RandomClientOperations operations;
    private volatile boolean isFilling;
    private @Nullable Thread filler;

    private ClientProgram(
            SoftSisci fabric, VolumeClient client, RandomClientOperations operations) {
        this.fabric = fabric;
        this.client = client;
        this.operations = operations;
    }

    /**
     * Arguments: those of the volume, the number of the client, the seed, and the number of its
     * host, which is 0 for a client without a path to the drive, or {@link
     * ClientProcess#NO_COORDINATOR}.
     */
    public static void main(String... arguments) throws Exception {
        var volume = HistoryVolume.of(arguments);
        var number = Integer.parseInt(HistoryVolume.argument(0, arguments));
        var seed = Long.parseLong(HistoryVolume.argument(1, arguments));
        var host = Integer.parseInt(HistoryVolume.argument(2, arguments));
        var fabric = new SoftSisci(SoftSisciOptions.in(volume.fabric()));
        Optional<Drive> drive =
                host <= 0
                        ? Optional.empty()
                        : Optional.of(BorrowedDrive.openWhenLent(fabric, host));
        var network = new NodeConnector(volume.nodeOptions());
        var log = new HistoryLog(volume.history(number));
        var exit = 0;
        try (var client =
                volume.newClient(
                        "client-" + number,
                        drive,
                        host == ClientProcess.NO_COORDINATOR
                                ? new NetworkWithoutCoordinator(network)
                                : network)) {
            var operations = new RandomClientOperations(number, client, log, seed);
            var program = new ClientProgram(fabric, client, operations);
            Thread.ofPlatform().daemon().start(program::executeCommands);
            operations.run();
        } catch (FabricException | RuntimeException | AssertionError e) {
            LOG.error("The client has failed", e);
            log.error(e.toString());
            exit = 1;
        }
        Runtime.getRuntime().halt(exit); // the lender frees the controller
    }

    private void executeCommands() {
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (var line = commands.readLine(); line != null; line = commands.readLine()) {
                execute(ClientProcess.Command.valueOf(line));
                System.out.println("Executed " + line);
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            LOG.error("A command has failed", e);
        }
        Runtime.getRuntime().halt(2); // the test has ended, or a command has failed
    }

    private void execute(ClientProcess.Command command)
            throws FabricException, InterruptedException {
        switch (command) {
            case CUT -> fabric.cutLink(0);
            case RESTORE -> fabric.restoreLink(0);
            case FILL -> startFilling();
            case FREE -> stopFilling();
            case END -> operations.end();
        }
    }

    @FunctionalInterface
    private interface Action {
        void run() throws FabricException;
    }

    /** Repeats an action whose session was lost. */
    private static void repeat(Action action) throws FabricException {
        while (true) {
            try {
                action.run();
                return;
            } catch (VolumeException e) {
                if (e.failure() != Failure.SESSION_LOST) {
                    throw e;
                }
            }
        }
    }

    /** Starts to fill the drive. Returns when it is full. */
    private void startFilling() throws InterruptedException {
        var isFull = new CountDownLatch(1);
        isFilling = true;
        filler =
                Thread.ofPlatform()
                        .daemon()
                        .start(() -> {
                            try {
                                repeat(() -> fill(isFull));
                            } catch (FabricException | RuntimeException e) {
                                LOG.error("Cannot fill the drive", e);
                                Runtime.getRuntime().halt(2);
                            }
                        });
        isFull.await();
    }

    /** Uses all space, including space that other clients release meanwhile. */
    private void fill(CountDownLatch isFull) throws FabricException {
        try (var file = client.open(FILLER, Creation.IF_MISSING, 0644)) {
            var bytes = LARGE_PART;
            while (isFilling) {
                try {
                    var _ = file.append(MemorySegment.ofArray(new byte[bytes]));
                } catch (VolumeException e) {
                    if (e.failure() != Failure.NO_SPACE) {
                        throw e;
                    }
                    if (bytes == Drive.BLOCK_BYTES) {
                        isFull.countDown();
                        pause();
                    }
                    bytes = Drive.BLOCK_BYTES;
                }
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void stopFilling() throws FabricException, InterruptedException {
        isFilling = false;
        if (filler != null) { // otherwise, another client has filled the drive, and was killed
            filler.join();
        }
        repeat(this::removeFiller);
        repeat(this::awaitSpace);
    }

    private void removeFiller() throws FabricException {
        try {
            client.remove(FILLER);
        } catch (VolumeException e) {
            if (e.failure() != Failure.NOT_FOUND) { // repeated
                throw e;
            }
        }
    }

    /** The file remains until the session of a killed filler has ended, which had opened it. */
    private void awaitSpace() throws FabricException {
        while (client.capacity().free() < FREED_BLOCKS) {
            pause();
        }
    }
}
