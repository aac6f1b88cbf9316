package org.jrdma.tck.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jrdma.sockets.Connections;

/**
 * What a {@link HostedProgram} runs: a program, and beside it a thread which answers each line that
 * it reads by how the program's streams are connected, and ends the process with the one that
 * started it.
 */
final class Hosted {

    /** Ends an answer. */
    static final String END = ".";

    private Hosted() {}

    /** With the main class of the program and its arguments. */
    public static void main(String... arguments) throws Exception {
        var answers = System.out;
        System.setOut(System.err);
        Thread.ofPlatform().daemon().name("answers").start(() -> answer(answers));
        Class.forName(arguments[0])
                .getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
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
                answers.println(END);
                answers.flush();
            }
        } catch (IOException _) {
            // whoever asked has ended
        }
        Runtime.getRuntime().halt(1);
    }
}
