package org.jrdma.sockets.model;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;

/**
 * The open streams of a process at one moment.
 *
 * <p>With {@code -Djrdma.sockets.report=FILE}, a process writes its snapshot into a file, for
 * observers that cannot use JMX. From its first connection on, the process writes the file every
 * two seconds, and once more when it exits. {@code %p} in the name of the file is replaced by the
 * process ID.
 *
 * <p>The file is text: a header line with the process and the time, a line with the names of the
 * columns, and a tab-separated line for each stream. The file is replaced atomically, so a reader
 * never sees a partial file.
 *
 * @param process the process ID, in the PID namespace of the process
 * @param program the main class or the jar of the process; empty if it is unknown
 * @param taken the time of the snapshot
 * @param isLast true if the process took the snapshot while it was exiting
 * @param connections the streams, the oldest first
 */
public record ConnectionsSnapshot(
        long process,
        String program,
        Instant taken,
        boolean isLast,
        List<ConnectionsMXBean.Line> connections) {

    /** The system property that names the file into which a process writes its snapshots. */
    public static final String PROPERTY = "jrdma.sockets.report";

    private static final String TITLE = "jrdma sockets";
    private static final String COLUMNS =
            "local\tpeer\taccepted\ttransport\treceived\tsent\tsince\twhy not faster";
    private static final int HEADER_LINES = 2;

    private static final Pattern HEADER =
            Pattern.compile(TITLE + "\tprocess (\\d+)\t([^\t]*)\t([^\t]+)\t(running|ended)");
    private static final Pattern INTERNET_ADDRESS = Pattern.compile("([^/].*):(\\d+)");

    /** Creates a snapshot with an immutable copy of the connections. */
    public ConnectionsSnapshot {
        connections = List.copyOf(connections);
    }

    /**
     * Reads a file into which a process has written its snapshot.
     *
     * @throws FabricException if the file cannot be read or is malformed; the message names the
     *     file
     */
    public static ConnectionsSnapshot read(Path file) throws FabricException {
        try {
            return parse(Files.readAllLines(file));
        } catch (NoSuchFileException e) {
            throw new FabricException("There is no file %s".formatted(file), 0, e);
        } catch (MalformedInputException
                | IllegalArgumentException
                | IndexOutOfBoundsException
                | DateTimeParseException e) {
            throw new FabricException(
                    "%s is not a report that a process writes with -D%s".formatted(file, PROPERTY),
                    0,
                    e);
        } catch (IOException e) {
            throw new FabricException("%s cannot be read: %s".formatted(file, e), 0, e);
        }
    }

    private static ConnectionsSnapshot parse(List<String> lines) {
        var head = HEADER.matcher(lines.get(0));
        if (!head.matches() || !lines.get(1).equals(COLUMNS)) {
            throw new IllegalArgumentException(lines.get(0));
        }
        return new ConnectionsSnapshot(
                Long.parseLong(head.group(1)),
                head.group(2),
                Instant.parse(head.group(3)),
                head.group(4).equals("ended"),
                lines.stream().skip(HEADER_LINES).map(line -> line(line.split("\t", -1))).toList());
    }

    private static ConnectionsMXBean.Line line(String... columns) {
        return new ConnectionsMXBean.Line(
                columns[0],
                columns[1],
                Boolean.parseBoolean(columns[2]),
                columns[3],
                columns[7],
                Long.parseLong(columns[4]),
                Long.parseLong(columns[5]),
                columns[6]);
    }

    /** Returns the lines of the file, as {@link #read} parses them. */
    public List<String> lines() {
        var head =
                columns(
                        TITLE,
                        "process " + process,
                        program,
                        taken.toString(),
                        isLast ? "ended" : "running");
        return Stream.concat(
                        Stream.of(head, COLUMNS),
                        connections.stream().map(ConnectionsSnapshot::columns))
                .toList();
    }

    private static String columns(ConnectionsMXBean.Line line) {
        return columns(
                line.local(),
                line.peer(),
                Boolean.toString(line.accepted()),
                line.transport(),
                Long.toString(line.bytesReceived()),
                Long.toString(line.bytesSent()),
                line.since(),
                line.whyNotFaster());
    }

    private static String columns(String... values) {
        return Stream.of(values)
                .map(value -> value.replaceAll("\\p{Cntrl}", " "))
                .collect(Collectors.joining("\t"));
    }

    /**
     * Returns a report of the streams, grouped by peer, in the format of {@link
     * org.jrdma.sockets.OpenConnections#report()}.
     */
    public String report() {
        var peers =
                connections.stream()
                        .collect(
                                Collectors.groupingBy(
                                        line -> host(line.peer()),
                                        TreeMap::new,
                                        Collectors.toList()));
        var report = new StringBuilder();
        peers.forEach((host, ofHost) -> {
            report.append(host).append('\n');
            ofHost.stream()
                    .collect(Collectors.groupingBy(Group::of, TreeMap::new, Collectors.toList()))
                    .forEach((group, lines) -> report.append(group.line(lines)));
        });
        return report.toString();
    }

    private static String host(String address) {
        var internet = INTERNET_ADDRESS.matcher(address);
        return internet.matches() ? internet.group(1) : "this machine";
    }

    /** The properties by which the report groups streams into one line. */
    private record Group(String transport, String place, String whyNotFaster)
            implements Comparable<Group> {

        static Group of(ConnectionsMXBean.Line line) {
            var address = line.accepted() ? line.local() : line.peer();
            var internet = INTERNET_ADDRESS.matcher(address);
            return new Group(
                    line.transport(),
                    (line.accepted() ? "at " : "to ")
                            + (internet.matches() ? internet.group(2) : address),
                    line.whyNotFaster());
        }

        @Override
        public int compareTo(Group other) {
            var order = transport.compareTo(other.transport);
            order = order != 0 ? order : place.compareTo(other.place);
            return order != 0 ? order : whyNotFaster.compareTo(other.whyNotFaster);
        }

        String line(List<ConnectionsMXBean.Line> lines) {
            return String.format(
                    Locale.ROOT,
                    "   %s: %d (%s)%s; %,d bytes received, %,d sent; since %s\n",
                    transport,
                    lines.size(),
                    place,
                    whyNotFaster.isEmpty() ? "" : " [fallback: %s]".formatted(whyNotFaster),
                    lines.stream().mapToLong(ConnectionsMXBean.Line::bytesReceived).sum(),
                    lines.stream().mapToLong(ConnectionsMXBean.Line::bytesSent).sum(),
                    lines.getFirst().since());
        }
    }
}
