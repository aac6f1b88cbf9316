package org.jrdma.volume.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.metadata.StaleJournalWriteDetector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients in processes of their own write, read, append, rename, truncate and lock while a {@link
 * Nemesis} kills and stops clients, servers and the lender of the drive, cuts direct paths and
 * fills the drive. Every acknowledged change is there, every read is explained, the volume is
 * consistent, and no coordinator wrote after its successor had begun.
 */
class VolumeConsistencyUnderFaultsTest {

    private static final int DIRECT_CLIENTS = 3;
    private static final int REDIRECTED_CLIENTS = 1;
    private static final int CLIENTS_WITHOUT_COORDINATOR = 1;
    private static final long THREAD_DUMP_MILLIS = 3000;

    /** Contains the logs of all processes, and is kept if the test fails. */
    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path folder;

    private final long seed = Long.getLong("jrdma.history.seed", new Random().nextLong());
    private HistoryVolume volume;
    private LenderProcess lender;
    private final List<ServerProcess> servers = new ArrayList<>();
    private ClientSet clients;

    @BeforeEach
    void start() throws Exception {
        System.out.println("Seed: " + seed);
        volume = HistoryVolume.create(folder);
        try (var drive = FileDrive.create(volume.driveFile(), HistoryVolume.BLOCKS)) {
            VolumeServer.create(drive);
        }
        clients = new ClientSet(volume, seed);
        lender = new LenderProcess(volume);
        lender.awaitLent();
        for (var number = 0; number < volume.ports().size(); number++) {
            servers.add(new ServerProcess(volume, number));
        }
    }

    @AfterEach
    void stop() throws Exception {
        clients.kill();
        stopServers();
        volume.close();
    }

    private void stopServers() throws InterruptedException {
        for (var server : servers) {
            server.kill();
        }
        lender.kill();
    }

    @Test
    @Timeout(900)
    void shouldExplainTheHistoryDuringAFewFaults() throws Exception {
        run(Duration.ofSeconds(8));
    }

    @Test
    @Tag("slow")
    @Timeout(value = 3, unit = TimeUnit.HOURS) // each wait has a shorter limit
    void shouldExplainALongHistoryDuringManyFaults() throws Exception {
        run(Duration.ofSeconds(Integer.getInteger("jrdma.history.seconds", 120)));
    }

    private void run(Duration duration) throws Exception {
        try (var drive = FileDrive.open(volume.driveFile());
                var epochs = new StaleJournalWriteDetector(drive)) {
            createFiles();
            clients.start(DIRECT_CLIENTS, REDIRECTED_CLIENTS, CLIENTS_WITHOUT_COORDINATOR);
            var nemesis = new Nemesis(volume, seed, lender, servers, clients);
            try {
                nemesis.run(duration);
            } catch (AssertionError e) {
                logThreads();
                throw e;
            }
            clients.awaitDirect();
            clients.end();
            check(nemesis, epochs);
            stopServers();
            checkConsistency(drive);
        }
    }

    /** Makes all processes write their threads to their logs, which may show why they wait. */
    private void logThreads() throws Exception {
        System.out.println("Logs: " + folder);
        clients.signal("QUIT");
        lender.signal("QUIT");
        for (var server : servers) {
            server.signal("QUIT");
        }
        Thread.sleep(THREAD_DUMP_MILLIS);
    }

    private void createFiles() throws IOException {
        try (var client = volume.newClient("setup", Optional.empty())) {
            client.open(RandomClientOperations.REGISTER_FILE, Creation.NEW, 0644).close();
            client.open(RandomClientOperations.APPENDED_FILE, Creation.NEW, 0644).close();
            client.open(RandomClientOperations.COUNTER_FILE, Creation.NEW, 0644).close();
        }
    }

    private void check(Nemesis nemesis, StaleJournalWriteDetector epochs) throws IOException {
        var checker = new HistoryChecker(volume, clients, seed);
        System.out.printf(
                "Faults: %s, %d clients, epochs 1 to %d%n%s%n",
                nemesis.counts(), clients.started(), epochs.newest(), checker.summary());
        checker.checkClients(nemesis.full());
        try (var client = volume.newClient("reader", Optional.empty())) {
            checker.checkContent(client);
        }
        assertThat(epochs.violations()).as("seed %d", seed).isEmpty();
    }

    private void checkConsistency(Drive drive) throws IOException {
        assertThat(VolumeServer.check(drive)).as("seed %d", seed).isEmpty();
    }
}
