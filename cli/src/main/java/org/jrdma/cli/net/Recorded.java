package org.jrdma.cli.net;

import static java.util.stream.Collectors.toList;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;

/** What a flight recording has of the sockets of a process. */
final class Recorded {

    private static final byte[] BEGINNING = {'F', 'L', 'R', 0};

    private record Taken(Instant when, Line line) {}

    private final List<Taken> open = new ArrayList<>();
    private final List<Taken> closed = new ArrayList<>();
    private Optional<Long> process = Optional.empty();
    private String program = "";
    private Optional<Instant> last = Optional.empty();
    private boolean ended;

    private Recorded() {}

    static boolean is(Path file) throws IOException {
        try (var bytes = Files.newInputStream(file)) {
            return java.util.Arrays.equals(bytes.readNBytes(BEGINNING.length), BEGINNING);
        }
    }

    static NetProcess read(Path file) throws IOException {
        var recorded = new Recorded();
        try (var events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                recorded.take(events.readEvent());
            }
        }
        return new NetProcess(
                Optional.of(file.toString()),
                recorded.process,
                recorded.program,
                recorded.last,
                recorded.ended,
                Optional.empty(),
                recorded.openAtTheEnd(),
                lines(recorded.closed));
    }

    private void take(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case "org.jrdma.SocketOpen" ->
                    open.add(
                            new Taken(
                                    event.getInstant("taken"),
                                    line(event, event.getString("since"))));
            case "org.jrdma.SocketConnection" ->
                    closed.add(
                            new Taken(
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
                // none of ours
            }
        }
        if (last.isEmpty() || event.getEndTime().isAfter(last.get())) {
            last = Optional.of(event.getEndTime());
        }
    }

    /** Those that were looked at last, but for the ones that were closed afterwards. */
    private List<Line> openAtTheEnd() {
        var end = open.stream().map(Taken::when).max(Comparator.naturalOrder());
        return lines(
                open.stream()
                        .filter(taken -> taken.when.equals(end.orElseThrow()))
                        .filter(taken -> closed.stream().noneMatch(other -> isOf(other, taken)))
                        .collect(toList()));
    }

    private static boolean isOf(Taken closed, Taken open) {
        return closed.when.isAfter(open.when)
                && closed.line.local().equals(open.line.local())
                && closed.line.peer().equals(open.line.peer());
    }

    private static List<Line> lines(List<Taken> taken) {
        return taken.stream().map(Taken::line).sorted(Comparator.comparing(Line::since)).toList();
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
