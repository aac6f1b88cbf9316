package org.jrdma.volume.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jrdma.volume.history.HistoryLog.DataFile;
import org.jrdma.volume.history.HistoryLog.Kind;
import org.jrdma.volume.model.Failure;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the conclusions from the history of a client. */
class ClientHistoryTest {

    @TempDir Path folder;

    private final RegisterHistoryChecker registers = new RegisterHistoryChecker();
    private Path file;
    private HistoryLog log;

    @BeforeEach
    void open() throws IOException {
        file = folder.resolve("history");
        log = new HistoryLog(file);
    }

    private RecordedClientHistory read() throws IOException {
        return RecordedClientHistory.read(file, System.nanoTime(), registers);
    }

    private void write(long value) {
        log.begin(Kind.WRITE, 1, value);
        log.end();
    }

    private void readLater(long value) {
        registers.read(1, Set.of(value), System.nanoTime(), System.nanoTime());
    }

    @Test
    void shouldRequireDurableWrites() throws IOException {
        write(1);
        log.durable(DataFile.REGISTERS);
        var _ = read();
        readLater(0);

        assertThat(registers.violations()).singleElement().asString().contains("old value");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldAcceptThatAKilledClientOrALostSessionLosesWritesThatAreNotDurable(long value)
            throws IOException {
        write(1);
        log.durable(DataFile.REGISTERS);
        write(2);
        log.sessionLost();
        write(3);
        log.begin(Kind.WRITE, 1, 4);
        var _ = read();
        readLater(value);

        assertThat(registers.violations()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {2, 3, 4, 5})
    void shouldRejectThatALostWriteTakesEffectLater(long value) throws IOException {
        write(1);
        log.durable(DataFile.REGISTERS);
        log.begin(Kind.WRITE, 1, 2);
        log.rejected(Failure.NO_SPACE);
        write(3);
        log.begin(Kind.WRITE, 1, 4);
        log.sessionLost();
        log.begin(Kind.WRITE, 1, 5);
        var _ = read();
        readLater(1);
        readLater(value);

        assertThat(registers.violations()).singleElement().asString().contains("older value");
    }

    @Test
    void shouldAcceptThatAClientThatWasNotKilledRetriesAWrite() throws IOException {
        log.begin(Kind.WRITE, 1, 1);
        var _ = RecordedClientHistory.read(file, RegisterHistoryChecker.NEVER, registers);
        readLater(0);
        readLater(1);

        assertThat(registers.violations()).isEmpty();
    }

    @Test
    void shouldDistinguishAppendsByTheirResults() throws IOException {
        log.begin(Kind.APPEND, 1);
        log.end();
        log.begin(Kind.APPEND, 2);
        log.rejected(Failure.NO_SPACE);
        log.begin(Kind.APPEND, 3);
        log.sessionLost();
        log.begin(Kind.APPEND, 4);
        var history = read();

        assertThat(history.appended).containsExactly(1L);
        assertThat(history.maybeAppended).containsExactly(1L, 3L, 4L);
        assertThat(history.rejections).hasSize(1);
        assertThat(history.unknown).isEqualTo(1);
        assertThat(history.operations).isEqualTo(1);
    }

    @Test
    void shouldKnowTheSizesThatTheFileOfTheClientCanHave() throws IOException {
        assertThat(read().ownSizes).containsExactly(0L);
        log.begin(Kind.TRUNCATE, 50);
        assertThat(read().ownSizes).containsExactlyInAnyOrder(0L, 50L);
        log.end();
        assertThat(read().ownSizes).containsExactly(50L);
        log.begin(Kind.EXTEND, 70);
        log.end();
        assertThat(read().ownSizes).containsExactlyInAnyOrder(50L, 70L);
        log.durable(DataFile.OWN);
        assertThat(read().ownSizes).containsExactly(70L);
    }

    @Test
    void shouldKnowTheFoldersThatCanContainTheToken() throws IOException {
        log.begin(Kind.CREATE, 0);
        assertThat(read().hasToken).isFalse();
        log.end();
        log.begin(Kind.MOVE, 1);
        log.sessionLost();
        assertThat(read().hasToken).isTrue();
        assertThat(read().tokenFolders).containsExactlyInAnyOrder(0L, 1L);
        log.begin(Kind.FIND, 0);
        log.end(1);
        assertThat(read().tokenFolders).containsExactly(1L);
    }

    @Test
    void shouldIgnoreALineThatAKilledClientHasNotCompleted() throws IOException {
        log.begin(Kind.INCREMENT, 1);
        Files.writeString(file, "12345 EN", StandardOpenOption.APPEND);
        var history = read();

        assertThat(history.incremented).isEmpty();
        assertThat(history.maybeIncremented).isEqualTo(1);
    }

    @Test
    void shouldReportErrors() throws IOException {
        log.error("a wrong\nresult");

        assertThat(read().errors).containsExactly("history: a wrong result");
    }
}
