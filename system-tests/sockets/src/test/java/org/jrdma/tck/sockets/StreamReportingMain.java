package org.jrdma.tck.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.jrdma.sockets.OpenConnections;

/**
 * The main class of a {@link HostedProgram}. Runs a program, and a thread that answers requests on
 * the standard input. The answer to each line is a list of the streams of the program and their
 * transports. The process ends when the standard input ends.
 */
final class StreamReportingMain {

    /** The last line of an answer. */
    static final String END = ".";

    /** A JVM option that includes closed streams in the answers, with a delay of one second. */
    static final String REPORT_CLOSED = "-Djrdma.test.closed=true";

    private static final Queue<String> CLOSED = new ConcurrentLinkedQueue<>();

    private StreamReportingMain() {}

    /** Runs the main class of the program with its arguments. */
    public static void main(String... arguments) throws Exception {
        var answers = System.out;
        System.setOut(System.err);
        if (Boolean.getBoolean("jrdma.test.closed")) {
            recordClosed();
        }
        Thread.ofPlatform().daemon().name("answers").start(() -> answer(answers));
        Class.forName(arguments[0])
                .getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
    }

    @SuppressWarnings("resource") // open until the process ends
    private static void recordClosed() {
        var recording = new RecordingStream();
        recording.enable("org.jrdma.SocketConnection").withoutThreshold();
        recording.onEvent(StreamReportingMain::record);
        recording.startAsync();
    }

    private static void record(RecordedEvent event) {
        var peer = event.getString("peer");
        CLOSED.add(
                "%s %s %d %d"
                        .formatted(
                                peer.substring(peer.lastIndexOf(':') + 1),
                                event.getString("transport"),
                                event.getLong("bytesReceived"),
                                event.getLong("bytesSent")));
    }

    private static void answer(PrintStream answers) {
        try (var requests = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
            while (requests.readLine() != null) {
                for (var connection : OpenConnections.all()) {
                    if (connection.peer() instanceof InetSocketAddress peer) {
                        answers.printf(
                                "%d %s %d %d%n",
                                peer.getPort(),
                                connection.transport(),
                                connection.bytesReceived(),
                                connection.bytesSent());
                    }
                }
                CLOSED.forEach(answers::println);
                answers.println(END);
                answers.flush();
            }
        } catch (IOException _) {
            // the requesting process has ended
        }
        Runtime.getRuntime().halt(1);
    }
}
