package org.jrdma.volume.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;

/**
 * Compares the content of a volume with the histories of its clients, after the last of them has
 * ended.
 */
final class HistoryChecker {

    private final String seed;
    private final RegisterHistoryChecker registers = new RegisterHistoryChecker();
    private final List<RecordedClientHistory> clients = new ArrayList<>();

    /** Reads the histories of all clients that were started. */
    HistoryChecker(HistoryVolume volume, ClientSet clients, long seed) throws IOException {
        this.seed = "seed " + seed;
        for (var client = 0; client < clients.started(); client++) {
            this.clients.add(
                    RecordedClientHistory.read(
                            volume.history(client), clients.killed(client), registers));
        }
    }

    /** Describes the operations. */
    String summary() {
        return "%d operations, %d lost sessions, %d rejected because the drive was full, longest operation %d ms"
                .formatted(
                        clients.stream().mapToLong(client -> client.operations).sum(),
                        clients.stream().mapToLong(client -> client.unknown).sum(),
                        clients.stream().mapToLong(client -> client.rejections.size()).sum(),
                        clients.stream().mapToLong(client -> client.longestPause).max().orElse(0)
                                / 1_000_000);
    }

    /** Checks that no client has failed, and that writes failed only while the drive was full. */
    void checkClients(List<Nemesis.FullPeriod> full) {
        var errors = clients.stream().flatMap(client -> client.errors.stream()).toList();
        assertThat(errors).as(seed).isEmpty();
        for (var client : clients) {
            assertThat(client.rejections)
                    .as(seed)
                    .allSatisfy(rejection -> {
                        assertThat(rejection.failure()).isEqualTo(Failure.NO_SPACE);
                        assertThat(full)
                                .anyMatch(period ->
                                        period.started() < rejection.ended()
                                                && rejection.started() < period.ended());
                    });
        }
    }

    /** Checks the content of the volume. */
    void checkContent(VolumeClient volume) throws FabricException {
        checkRegisters(volume);
        checkAppended(volume);
        checkCounter(volume);
        for (var number = 0; number < clients.size(); number++) {
            checkOwnFiles(volume, number, clients.get(number));
        }
    }

    private void checkRegisters(VolumeClient volume) throws FabricException {
        try (var file = volume.open(RandomClientOperations.REGISTER_FILE, Creation.EXISTING, 0)) {
            for (var register = 0; register < RandomClientOperations.REGISTERS; register++) {
                var started = System.nanoTime();
                var values = RandomClientOperations.readRegister(file, register);
                registers.read(register, values, started, System.nanoTime());
            }
        }
        assertThat(registers.violations()).as(seed).isEmpty();
    }

    private void checkAppended(VolumeClient volume) throws FabricException {
        var acknowledged = new HashSet<Long>();
        var possible = new HashSet<Long>();
        for (var client : clients) {
            acknowledged.addAll(client.appended);
            possible.addAll(client.maybeAppended);
        }
        var found = readAppended(volume);
        assertThat(missing(acknowledged, found)).as("%s: lost records", seed).isEmpty();
        assertThat(missing(found, possible)).as("%s: unexplained records", seed).isEmpty();
    }

    private static List<Long> missing(Set<Long> expected, Set<Long> actual) {
        return expected.stream().filter(value -> !actual.contains(value)).toList();
    }

    /** Reads the records that the clients have appended, of which none is present twice. */
    private Set<Long> readAppended(VolumeClient volume) throws FabricException {
        try (var file = volume.open(RandomClientOperations.APPENDED_FILE, Creation.EXISTING, 0)) {
            var memory = MemorySegment.ofArray(new byte[(int) file.size()]);
            assertThat(memory.byteSize() % RandomClientOperations.RECORD_BYTES).as(seed).isZero();
            assertThat(file.read(0, memory)).isEqualTo((int) memory.byteSize());
            var values = new HashSet<Long>();
            for (var at = 0L; at < memory.byteSize(); at += RandomClientOperations.RECORD_BYTES) {
                var value = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
                assertThat(memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at + Long.BYTES))
                        .as("%s: record %x at byte %d of %d", seed, value, at, memory.byteSize())
                        .isEqualTo(~value);
                assertThat(values.add(value)).as("%s: first record of %x", seed, value).isTrue();
            }
            return values;
        }
    }

    private void checkCounter(VolumeClient volume) throws FabricException {
        var values = clients.stream().flatMap(client -> client.incremented.stream()).toList();
        assertThat(values).as("%s: increments", seed).doesNotHaveDuplicates();
        try (var file = volume.open(RandomClientOperations.COUNTER_FILE, Creation.EXISTING, 0)) {
            assertThat(RandomClientOperations.readCounter(file))
                    .as(seed)
                    .isBetween(
                            values.stream().mapToLong(Long::longValue).max().orElse(0),
                            clients.stream().mapToLong(client -> client.maybeIncremented).sum());
        }
    }

    private void checkOwnFiles(VolumeClient volume, int number, RecordedClientHistory history)
            throws FabricException {
        var folders =
                LongStream.range(0, 2)
                        .filter(folder ->
                                exists(volume, RandomClientOperations.token(number, folder)))
                        .boxed()
                        .toList();
        assertThat(folders)
                .as("%s: folders of the token of client %d", seed, number)
                .hasSizeBetween(history.hasToken ? 1 : 0, 1)
                .isSubsetOf(history.tokenFolders);
        var own = RandomClientOperations.ownFile(number);
        assertThat(exists(volume, own) ? volume.attributes(own).size() : 0)
                .as("%s: size of %s", seed, own)
                .isIn(history.ownSizes);
        if (exists(volume, own)) {
            checkOwnContent(volume, number);
        }
    }

    /** All bytes are zero, except those of the last extension. */
    private void checkOwnContent(VolumeClient volume, int number) throws FabricException {
        try (var file = volume.open(RandomClientOperations.ownFile(number), Creation.EXISTING, 0)) {
            var content = new byte[(int) file.size()];
            var _ = file.read(0, MemorySegment.ofArray(content));
            var text = new String(content, StandardCharsets.ISO_8859_1).replace('\0', ' ');
            assertThat(text.strip())
                    .as("%s: content of the file of client %d", seed, number)
                    .matches(
                            "%c{0,%d}"
                                    .formatted(
                                            RandomClientOperations.ownByte(number),
                                            RandomClientOperations.EXTENSION_BYTES));
        }
    }

    private static boolean exists(VolumeClient volume, FilePath path) {
        try {
            var _ = volume.attributes(path);
            return true;
        } catch (VolumeException e) {
            assertThat(e.failure()).isEqualTo(Failure.NOT_FOUND);
            return false;
        } catch (FabricException e) {
            throw new AssertionError(e);
        }
    }
}
