package org.jrdma.volume.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.ffi.FabricException;
import org.jrdma.processes.FreePorts;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.client.ClientOptions;
import org.jrdma.volume.client.FileHandle;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients write, read, append, rename, truncate and lock while the coordinator is killed and
 * stopped. Every acknowledged change is there, every read is explained, and the volume is
 * consistent.
 */
class HistoryTest {

    private static final int CLIENTS = 4;
    private static final int REGISTERS = 6;

    /** Not a multiple of a block, so that writes of neighbors share blocks. */
    private static final int REGISTER_BYTES = 5000;

    private static final int RECORD_BYTES = 16;

    @TempDir Path folder;

    private final long seed = new Random().nextLong();
    private final Registers registers = new Registers();
    private final AtomicLong lastValue = new AtomicLong();
    private final AtomicInteger operations = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();
    private final AtomicLong longestPause = new AtomicLong();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final List<ServerProcess> servers = new ArrayList<>();
    private final ConcurrentLinkedQueue<Long> appended = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Long> maybeAppended = new ConcurrentLinkedQueue<>();
    private final AtomicLong incremented = new AtomicLong();
    private final AtomicLong maybeIncremented = new AtomicLong();
    private volatile boolean isEnding;

    @Test
    @Timeout(180)
    void shouldExplainTheHistoryWhileTheCoordinatorIsKilled() throws Exception {
        run(Duration.ofSeconds(8));
    }

    @Test
    @Tag("slow")
    @Timeout(600)
    void shouldExplainALongHistoryWhileTheCoordinatorIsKilled() throws Exception {
        run(Duration.ofMinutes(2));
    }

    private void run(Duration duration) throws Exception {
        System.out.println("Seed: " + seed);
        var file = folder.resolve("drive");
        try (var drive = FileDrive.create(file, 16_384)) {
            VolumeServer.create(drive);
            var ports = FreePorts.of(3);
            try {
                for (var port : ports) {
                    servers.add(new ServerProcess(folder, file, port, ports));
                }
                operate(drive, ports, duration);
            } finally {
                for (var server : servers) {
                    server.kill();
                }
            }
            assertThat(VolumeServer.check(drive)).as("seed %d", seed).isEmpty();
        }
    }

    private VolumeClient newClient(String name, Drive drive, List<Integer> ports)
            throws FabricException {
        return new VolumeClient(
                new ClientOptions(
                        name,
                        ports.stream().map(ServerProcess::address).toList(),
                        List.of(),
                        true,
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(60)),
                new NodeConnector(ServerProcess.policy()),
                Optional.of(drive));
    }

    private void operate(Drive drive, List<Integer> ports, Duration duration) throws Exception {
        try (var setup = newClient("setup", drive, ports)) {
            setup.open(FilePath.of("/registers"), Creation.NEW, 0644).close();
            setup.open(FilePath.of("/appended"), Creation.NEW, 0644).close();
            setup.open(FilePath.of("/counter"), Creation.NEW, 0644).close();
        }
        var threads = new ArrayList<Thread>();
        for (var number = 0; number < CLIENTS; number++) {
            var client = number;
            threads.add(
                    Thread.ofPlatform()
                            .name("client-" + number)
                            .start(() -> runClient(client, drive, ports)));
        }
        var faults = injectFaults(duration);
        isEnding = true;
        for (var thread : threads) {
            thread.join();
        }
        System.out.printf(
                "%d operations, %d with an unknown result, %d kills and stops, epochs %s, longest pause %d ms%n",
                operations.get(), unknown.get(), faults, epochs(), longestPause.get() / 1_000_000);
        assertThat(failures).as("seed %d, %s", seed, failures).isEmpty();
        try (var client = newClient("reader", drive, ports)) {
            verify(client);
        }
    }

    private List<Long> epochs() throws IOException {
        var epochs = new ArrayList<Long>();
        for (var server : servers) {
            epochs.add(server.lastEpoch());
        }
        return epochs;
    }

    /** Kills the coordinator, or stops it until another one has taken over. */
    private int injectFaults(Duration duration) throws Exception {
        var random = new Random(seed);
        var end = System.nanoTime() + duration.toNanos();
        var faults = 0;
        var lastEpoch = 0L;
        while (System.nanoTime() - end < 0) {
            var coordinator = awaitCoordinator(lastEpoch);
            lastEpoch = coordinator.lastEpoch();
            awaitOperations(operations.get() + 50 + random.nextInt(100));
            faults++;
            if (random.nextInt(3) == 0) {
                coordinator.signal("STOP");
                var _ = awaitCoordinator(lastEpoch);
                coordinator.signal("CONT");
            } else {
                coordinator.kill();
                coordinator.start();
            }
        }
        return faults;
    }

    private void awaitOperations(int count) throws InterruptedException {
        while (operations.get() < count && failures.isEmpty()) {
            Thread.sleep(10);
        }
    }

    private ServerProcess awaitCoordinator(long epoch) throws Exception {
        while (true) {
            for (var server : servers) {
                if (server.lastEpoch() > epoch) {
                    return server;
                }
            }
            Thread.sleep(20);
        }
    }

    private void runClient(int number, Drive drive, List<Integer> ports) {
        try (var client = newClient("client-" + number, drive, ports)) {
            new ClientRun(number, client).run();
        } catch (Exception | AssertionError e) {
            failures.add(e);
        }
    }

    /** The operations of one client. */
    private final class ClientRun {

        private final int number;
        private final VolumeClient client;
        private final Random random;
        private FilePath token;
        private long ownSize;

        ClientRun(int number, VolumeClient client) {
            this.number = number;
            this.client = client;
            this.random = new Random(seed + number);
        }

        void run() throws FabricException {
            for (var i = 0; i < 2; i++) {
                client.createFolder(FilePath.of("/folder-%d-%d".formatted(number, i)), 0755);
            }
            token = FilePath.of("/folder-%d-0/token".formatted(number));
            client.open(token, Creation.NEW, 0644).close();
            while (!isEnding) {
                var started = System.nanoTime();
                try (var registerFile =
                                client.open(FilePath.of("/registers"), Creation.EXISTING, 0);
                        var own =
                                client.open(
                                        FilePath.of("/own-" + number), Creation.IF_MISSING, 0644)) {
                    for (var i = 0; i < 20 && !isEnding; i++) {
                        started = System.nanoTime();
                        step(registerFile, own);
                        operations.incrementAndGet();
                        longestPause.accumulateAndGet(System.nanoTime() - started, Math::max);
                    }
                } catch (VolumeException e) {
                    tolerateLostSession(e);
                }
            }
        }

        /** A client that had no processor for longer than its session lost it. */
        private void tolerateLostSession(VolumeException e) throws VolumeException {
            if (e.failure() != Failure.SESSION_LOST) {
                throw e;
            }
            unknown.incrementAndGet();
            ownSize = -1;
        }

        private void step(FileHandle registerFile, FileHandle own) throws FabricException {
            switch (random.nextInt(10)) {
                case 0, 1, 2 -> writeRegister(registerFile);
                case 3, 4, 5 -> readRegister(registerFile, random.nextInt(REGISTERS));
                case 6 -> append();
                case 7 -> rename();
                case 8 -> truncate(own);
                default -> increment();
            }
        }

        private void writeRegister(FileHandle file) throws FabricException {
            var register = random.nextInt(REGISTERS);
            var value = lastValue.incrementAndGet();
            var data = new byte[REGISTER_BYTES];
            var memory = MemorySegment.ofArray(data);
            for (var i = 0; i < REGISTER_BYTES / Long.BYTES; i++) {
                memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, value);
            }
            var started = System.nanoTime();
            var isAcknowledged = false;
            try {
                file.write((long) register * REGISTER_BYTES, memory);
                if (random.nextBoolean()) {
                    file.force();
                }
                isAcknowledged = true;
            } finally {
                registers.wrote(register, value, started, isAcknowledged);
            }
        }

        private void append() throws FabricException {
            var value = lastValue.incrementAndGet();
            var memory = MemorySegment.ofArray(new byte[RECORD_BYTES]);
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, ~value);
            maybeAppended.add(value);
            try (var file = client.open(FilePath.of("/appended"), Creation.EXISTING, 0)) {
                var _ = file.append(memory);
            }
            appended.add(value); // durable, because the file was closed
        }

        private void rename() throws FabricException {
            var target = FilePath.of("/folder-%d-%d/token".formatted(number, random.nextInt(2)));
            if (target.equals(token)) {
                assertThat(client.attributes(token).isFolder()).isFalse();
                return;
            }
            client.rename(token, target, false);
            token = target;
        }

        private void truncate(FileHandle own) throws FabricException {
            if (ownSize >= 0) {
                assertThat(own.size()).as("seed %d", seed).isEqualTo(ownSize);
            }
            var size = random.nextInt(50_000);
            ownSize = -1;
            if (random.nextBoolean()) {
                own.truncate(size);
                ownSize = size;
            } else {
                own.truncate(0);
                own.write(size, MemorySegment.ofArray(new byte[100]));
                ownSize = size + 100L;
            }
            assertThat(client.attributes(FilePath.of("/own-" + number)).size())
                    .as("seed %d", seed)
                    .isEqualTo(ownSize);
        }

        private void increment() throws FabricException {
            try (var file = client.open(FilePath.of("/counter"), Creation.EXISTING, 0)) {
                var isLocked = file.lock(0, 8, false, true);
                assertThat(isLocked).isTrue();
                var memory = MemorySegment.ofArray(new byte[Long.BYTES]);
                var count = file.read(0, memory);
                var value = count == 0 ? 0 : memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
                memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value + 1);
                maybeIncremented.incrementAndGet();
                file.write(0, memory);
                file.force();
                file.unlock(0, 8, false);
            }
            incremented.incrementAndGet();
        }
    }

    private void readRegister(FileHandle file, int register) throws FabricException {
        var data = new byte[REGISTER_BYTES];
        var memory = MemorySegment.ofArray(data);
        var started = System.nanoTime();
        var count = file.read((long) register * REGISTER_BYTES, memory);
        var value = count == 0 ? 0 : memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        registers.read(register, value, started);
        for (var i = 0; i < count / Long.BYTES; i++) {
            assertThat(memory.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i))
                    .as("seed %d: a register contains parts of two writes", seed)
                    .isEqualTo(value);
        }
    }

    private void verify(VolumeClient client) throws FabricException {
        try (var file = client.open(FilePath.of("/registers"), Creation.EXISTING, 0)) {
            for (var register = 0; register < REGISTERS; register++) {
                readRegister(file, register);
            }
        }
        assertThat(registers.violations()).as("seed %d", seed).isEmpty();
        try (var file = client.open(FilePath.of("/appended"), Creation.EXISTING, 0)) {
            var memory = MemorySegment.ofArray(new byte[(int) file.size()]);
            assertThat(file.read(0, memory)).isEqualTo((int) memory.byteSize());
            var found = new ArrayList<Long>();
            for (var i = 0; i < memory.byteSize() / RECORD_BYTES; i++) {
                var value = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, (long) i * RECORD_BYTES);
                assertThat(memory.get(ValueLayout.JAVA_LONG_UNALIGNED, i * (long) RECORD_BYTES + 8))
                        .isEqualTo(~value);
                found.add(value);
            }
            assertThat(found)
                    .as("seed %d", seed)
                    .doesNotHaveDuplicates()
                    .containsAll(appended)
                    .isSubsetOf(maybeAppended);
        }
        try (var file = client.open(FilePath.of("/counter"), Creation.EXISTING, 0)) {
            var memory = MemorySegment.ofArray(new byte[Long.BYTES]);
            var count = file.read(0, memory);
            assertThat(count == 0 ? 0 : memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 0))
                    .as("seed %d", seed)
                    .isBetween(incremented.get(), maybeIncremented.get());
        }
    }
}
