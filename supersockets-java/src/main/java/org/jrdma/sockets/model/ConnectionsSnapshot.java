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
 * The streams of a process at one moment. With {@code -Djrdma.sockets.report=FILE} a process writes
 * its own into a file, for those who cannot ask it over JMX: some seconds apart from its first
 * connection on, and when it ends. {@code %p} in the name becomes the number of the process.
 *
 * <p>The file is text: a line that says of whom and when, a line with the names of the columns, and
 * a line for each stream, with tabs between. It is replaced as a whole, so who reads it never sees
 * half of one.
 *
 * @param process the number of the process, in its own PID namespace
 * @param program its main class or jar, as far as it is known
 * @param taken when
 * @param isLast whether the process ended then
 * @param connections the oldest first
 */
public record ConnectionsSnapshot(
        long process,
        String program,
        Instant taken,
        boolean isLast,
        List<ConnectionsMXBean.Line> connections) {

    /** The system property that names the file. */
    public static final String PROPERTY = "jrdma.sockets.report";

    private static final String TITLE = "jrdma sockets";
    private static final String COLUMNS =
            "local\tpeer\taccepted\ttransport\treceived\tsent\tsince\twhy not faster";
    private static final int LINES_AHEAD = 2;

    private static final Pattern HEAD =
            Pattern.compile(TITLE + "\tprocess (\\d+)\t([^\t]*)\t([^\t]+)\t(running|ended)");
    private static final Pattern OF_THE_INTERNET = Pattern.compile("([^/].*):(\\d+)");

    /** Keeps the connections as they are. */
    public ConnectionsSnapshot {
        connections = List.copyOf(connections);
    }

    /**
     * What a process has written.
     *
     * @throws FabricException if the file cannot be read, or is none that a process has written so;
     *     the message names it
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
                    "%s is no file that a process writes with -D%s".formatted(file, PROPERTY),
                    0,
                    e);
        } catch (IOException e) {
            throw new FabricException("%s cannot be read: %s".formatted(file, e), 0, e);
        }
    }

    private static ConnectionsSnapshot parse(List<String> lines) {
        var head = HEAD.matcher(lines.get(0));
        if (!head.matches() || !lines.get(1).equals(COLUMNS)) {
            throw new IllegalArgumentException(lines.get(0));
        }
        return new ConnectionsSnapshot(
                Long.parseLong(head.group(1)),
                head.group(2),
                Instant.parse(head.group(3)),
                head.group(4).equals("ended"),
                lines.stream().skip(LINES_AHEAD).map(line -> line(line.split("\t", -1))).toList());
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

    /** The lines of the file, as {@link #read} parses them. */
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
     * The streams by their peers, as {@link org.jrdma.sockets.Connections#report()} returns them.
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
                    .collect(Collectors.groupingBy(Way::of, TreeMap::new, Collectors.toList()))
                    .forEach((way, alike) -> report.append(way.line(alike)));
        });
        return report.toString();
    }

    private static String host(String address) {
        var internet = OF_THE_INTERNET.matcher(address);
        return internet.matches() ? internet.group(1) : "this machine";
    }

    /** What those have in common that are counted together. */
    private record Way(String transport, String place, String whyNotFaster)
            implements Comparable<Way> {

        static Way of(ConnectionsMXBean.Line line) {
            var address = line.accepted() ? line.local() : line.peer();
            var internet = OF_THE_INTERNET.matcher(address);
            return new Way(
                    line.transport(),
                    (line.accepted() ? "at " : "to ")
                            + (internet.matches() ? internet.group(2) : address),
                    line.whyNotFaster());
        }

        @Override
        public int compareTo(Way other) {
            var order = transport.compareTo(other.transport);
            order = order != 0 ? order : place.compareTo(other.place);
            return order != 0 ? order : whyNotFaster.compareTo(other.whyNotFaster);
        }

        String line(List<ConnectionsMXBean.Line> alike) {
            return String.format(
                    Locale.ROOT,
                    "   %s: %d (%s)%s; %,d bytes received, %,d sent; since %s\n",
                    transport,
                    alike.size(),
                    place,
                    whyNotFaster.isEmpty() ? "" : " [fall-back: %s]".formatted(whyNotFaster),
                    alike.stream().mapToLong(ConnectionsMXBean.Line::bytesReceived).sum(),
                    alike.stream().mapToLong(ConnectionsMXBean.Line::bytesSent).sum(),
                    alike.getFirst().since());
        }
    }
}
