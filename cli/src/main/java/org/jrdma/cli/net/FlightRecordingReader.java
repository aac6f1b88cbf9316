package org.jrdma.cli.net;

import static java.util.stream.Collectors.toList;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;

/** Reads the socket connections of a process from a flight recording. */
final class FlightRecordingReader {

    private static final byte[] MAGIC = {'F', 'L', 'R', 0};

    private record Recorded(Instant when, Line line) {}

    private final List<Recorded> open = new ArrayList<>();
    private final List<Recorded> closed = new ArrayList<>();
    private Optional<Long> process = Optional.empty();
    private String program = "";
    private Optional<Instant> last = Optional.empty();
    private boolean ended;

    private FlightRecordingReader() {}

    /** Returns true if the file starts with the magic number of flight recordings. */
    static boolean isRecording(Path file) throws IOException {
        try (var bytes = Files.newInputStream(file)) {
            return Arrays.equals(bytes.readNBytes(MAGIC.length), MAGIC);
        }
    }

    static ProcessConnections read(Path file) throws IOException {
        var recording = new FlightRecordingReader();
        try (var events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                recording.add(events.readEvent());
            }
        } catch (RuntimeException e) { // An event lacks a field, or the file is damaged.
            throw new IOException("the recording is malformed: " + e.getMessage(), e);
        }
        return new ProcessConnections(
                Optional.of(file.toString()),
                recording.process,
                recording.program,
                recording.last,
                recording.ended,
                Optional.empty(),
                recording.openAtEnd(),
                lines(recording.closed));
    }

    private void add(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case "org.jrdma.SocketOpen" ->
                    open.add(
                            new Recorded(
                                    event.getInstant("taken"),
                                    line(event, event.getString("since"))));
            case "org.jrdma.SocketConnection" ->
                    closed.add(
                            new Recorded(
                                    event.getEndTime(),
                                    line(event, event.getStartTime().toString())));
            case "jdk.JVMInformation" -> {
                process = Optional.of(event.getLong("pid"));
                program =
                        Optional.ofNullable(event.getString("javaArguments"))
                                .map(words -> words.split(" ", 2)[0])
                                .orElse("");
            }
            case "jdk.Shutdown" -> ended = true;
            default -> {
                // Events of other types contain nothing about connections.
            }
        }
        if (last.isEmpty() || event.getEndTime().isAfter(last.get())) {
            last = Optional.of(event.getEndTime());
        }
    }

    /**
     * Returns the connections that were open at the end of the recording: those in the last
     * snapshot that were not closed after it.
     */
    private List<Line> openAtEnd() {
        var end = open.stream().map(Recorded::when).max(Comparator.naturalOrder());
        return lines(
                open.stream()
                        .filter(recorded -> recorded.when.equals(end.orElseThrow()))
                        .filter(recorded ->
                                closed.stream().noneMatch(close -> isCloseOf(close, recorded)))
                        .collect(toList()));
    }

    private static boolean isCloseOf(Recorded closed, Recorded open) {
        return closed.when.isAfter(open.when)
                && closed.line.local().equals(open.line.local())
                && closed.line.peer().equals(open.line.peer());
    }

    private static List<Line> lines(List<Recorded> recorded) {
        return recorded.stream()
                .map(Recorded::line)
                .sorted(Comparator.comparing(Line::since))
                .toList();
    }

    private static Line line(RecordedEvent event, String since) {
        return new Line(
                event.getString("local"),
                event.getString("peer"),
                event.getBoolean("accepted"),
                event.getString("transport"),
                event.getString("whyNotFaster"),
                event.getLong("bytesReceived"),
                event.getLong("bytesSent"),
                since);
    }
}
