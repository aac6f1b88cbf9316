package org.jrdma.volume.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.volume.history.HistoryLog.DataFile;
import org.jrdma.volume.history.HistoryLog.Event;
import org.jrdma.volume.history.HistoryLog.Kind;
import org.jrdma.volume.model.Failure;
import org.jspecify.annotations.Nullable;

/**
 * The history of one client, read from the file that its {@link HistoryLog} has written.
 *
 * <p>An operation that was acknowledged has taken effect. An operation without a result may have
 * taken effect. Data that was acknowledged and not made durable is lost with the session or the
 * process of the client, unless another client has read it.
 */
final class RecordedClientHistory {

    private static final long NONE = -1;

    /** A period in which the volume rejected operations, because it was full. */
    record Rejection(Failure failure, long started, long ended) {}

    private record Started(Kind kind, long first, long second, long time) {}

    private record RegisterWrite(int register, long value, long started, long ended) {}

    private final Path file;
    private final RegisterHistoryChecker registers;
    private final List<RegisterWrite> notDurable = new ArrayList<>();

    /** The values that were appended. */
    final Set<Long> appended = new HashSet<>();

    /** The values that were appended, and those whose result is unknown. */
    final Set<Long> maybeAppended = new HashSet<>();

    /** The sizes that the file of the client can have. */
    final Set<Long> ownSizes = new HashSet<>(Set.of(0L));

    /** The folders that can contain the token. */
    final Set<Long> tokenFolders = new HashSet<>();

    /** The values of the counter after the increments. */
    final List<Long> incremented = new ArrayList<>();

    final List<Rejection> rejections = new ArrayList<>();
    final List<String> errors = new ArrayList<>();
    long maybeIncremented;
    long operations;
    long unknown;
    long longestPause;
    boolean hasToken;

    private @Nullable Started current;
    private long lastTime;

    /** The size after the last extension, while that is not durable. */
    private long extension = NONE;

    private RecordedClientHistory(Path file, RegisterHistoryChecker registers) {
        this.file = file;
        this.registers = registers;
    }

    /**
     * Reads a file, and adds its registers to those of other clients.
     *
     * @param killed a time at which the client had been killed; {@link
     *     RegisterHistoryChecker#NEVER} if it was not
     */
    static RecordedClientHistory read(Path file, long killed, RegisterHistoryChecker registers)
            throws IOException {
        var history = new RecordedClientHistory(file, registers);
        if (Files.exists(file)) { // otherwise, the client was killed before its first operation
            var text = Files.readString(file);
            text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(history::add);
        }
        history.loseUnfinished(killed);
        return history;
    }

    private void add(String line) {
        var words = line.split(" ", 3);
        var time = Long.parseLong(words[0]);
        switch (Event.valueOf(words[1])) {
            case BEGIN -> begin(time, words[2].split(" "));
            case END ->
                    end(
                            time,
                            Stream.of(words[2].split(","))
                                    .map(Long::valueOf)
                                    .collect(Collectors.toSet()));
            case REJECTED -> {
                var started = current == null ? lastTime : current.time();
                rejections.add(new Rejection(Failure.valueOf(words[2]), started, time));
                reject(time);
            }
            case DURABLE -> durable(DataFile.valueOf(words[2]));
            case LOST -> {
                unknown++;
                loseUnfinished(time);
            }
            case ERROR -> errors.add("%s: %s".formatted(file.getFileName(), words[2]));
        }
        lastTime = time;
    }

    private void begin(long time, String... words) {
        var started =
                new Started(
                        Kind.valueOf(words[0]),
                        Long.parseLong(words[1]),
                        Long.parseLong(words[2]),
                        time);
        current = started;
        switch (started.kind()) {
            case APPEND -> maybeAppended.add(started.first());
            case INCREMENT -> maybeIncremented++;
            case CREATE -> tokenFolders.add(0L);
            case MOVE -> tokenFolders.add(started.first());
            case TRUNCATE, EXTEND -> ownSizes.add(started.first());
            case WRITE, READ, FIND -> {}
        }
    }

    private void end(long time, Set<Long> results) {
        var started = java.util.Objects.requireNonNull(current);
        current = null;
        operations++;
        longestPause = Math.max(longestPause, time - started.time());
        switch (started.kind()) {
            case WRITE ->
                    notDurable.add(
                            new RegisterWrite(
                                    (int) started.first(), started.second(), started.time(), time));
            case READ -> registers.read((int) started.first(), results, started.time(), time);
            case APPEND -> appended.add(started.first());
            case INCREMENT -> incremented.add(started.first());
            case CREATE, MOVE -> tokenIsIn(started.first());
            case FIND -> tokenIsIn(results.iterator().next());
            case TRUNCATE -> ownSizeIs(started.first());
            case EXTEND -> extension = started.first();
        }
    }

    private void ownSizeIs(long size) {
        ownSizes.clear();
        ownSizes.add(size);
        extension = NONE;
    }

    private void tokenIsIn(long folder) {
        hasToken = true;
        tokenFolders.clear();
        tokenFolders.add(folder);
    }

    private void durable(DataFile data) {
        switch (data) {
            case REGISTERS -> {
                notDurable.forEach(each ->
                        registers.wrote(
                                each.register(), each.value(), each.started(), each.ended()));
                notDurable.clear();
            }
            case OWN -> {
                if (extension != NONE) {
                    ownSizeIs(extension);
                }
            }
        }
    }

    /** The volume was full. An append that was rejected has no effect; a write can have a part. */
    private void reject(long time) {
        var started = current;
        if (started != null && started.kind() == Kind.APPEND) {
            maybeAppended.remove(started.first());
            current = null;
        }
        loseUnfinishedOperation(time);
    }

    /** The session or the process ended before a time. */
    private void loseUnfinished(long ended) {
        notDurable.forEach(each ->
                registers.mayHaveWritten(
                        each.register(), each.value(), each.started(), each.ended()));
        notDurable.clear();
        extension = NONE;
        loseUnfinishedOperation(ended);
    }

    private void loseUnfinishedOperation(long ended) {
        if (current != null && current.kind() == Kind.WRITE) {
            registers.mayHaveWritten(
                    (int) current.first(), current.second(), current.time(), ended);
        }
        current = null;
    }
}
