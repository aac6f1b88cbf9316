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
import org.jrdma.sockets.Connections;

/**
 * What a {@link HostedProgram} runs: a program, and beside it a thread which answers each line that
 * it reads by how the program's streams are connected, and ends the process with the one that
 * started it.
 */
final class Hosted {

    /** Ends an answer. */
    static final String END = ".";

    /** An option with which streams that are closed are in the answers too, a second later. */
    static final String REMEMBERING = "-Djrdma.test.remember=true";

    private static final Queue<String> CLOSED = new ConcurrentLinkedQueue<>();

    private Hosted() {}

    /** With the main class of the program and its arguments. */
    public static void main(String... arguments) throws Exception {
        var answers = System.out;
        System.setOut(System.err);
        if (Boolean.getBoolean("jrdma.test.remember")) {
            rememberClosed();
        }
        Thread.ofPlatform().daemon().name("answers").start(() -> answer(answers));
        Class.forName(arguments[0])
                .getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
    }

    @SuppressWarnings("resource") // for as long as the process lives
    private static void rememberClosed() {
        var recording = new RecordingStream();
        recording.enable("org.jrdma.SocketConnection").withoutThreshold();
        recording.onEvent(Hosted::remember);
        recording.startAsync();
    }

    private static void remember(RecordedEvent event) {
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
        try (var questions = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
            while (questions.readLine() != null) {
                for (var connection : Connections.all()) {
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
            // whoever asked has ended
        }
        Runtime.getRuntime().halt(1);
    }
}
