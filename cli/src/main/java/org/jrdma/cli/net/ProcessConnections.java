package org.jrdma.cli.net;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jrdma.cli.output.PrintableText;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;
import org.jrdma.sockets.model.ConnectionsSnapshot;

/**
 * The connections of a process.
 *
 * @param source the file that was read; empty if the process itself was queried
 * @param process the process ID; empty if the file does not contain one
 * @param program the main class or jar
 * @param taken the time of the snapshot; empty if it is not known
 * @param ended true if the process ended at the time of the snapshot
 * @param problem the reason why the connections are unknown; empty if they are known
 * @param connections the open connections, oldest first
 * @param closed the connections that were closed during a flight recording
 */
record ProcessConnections(
        Optional<String> source,
        Optional<Long> process,
        String program,
        Optional<Instant> taken,
        boolean ended,
        Optional<String> problem,
        List<Line> connections,
        List<Line> closed) {

    static ProcessConnections of(Optional<String> source, ConnectionsSnapshot snapshot) {
        return new ProcessConnections(
                source,
                Optional.of(snapshot.process()),
                snapshot.program(),
                Optional.of(snapshot.taken()),
                snapshot.isLast(),
                Optional.empty(),
                snapshot.connections(),
                List.of());
    }

    static ProcessConnections unknown(RunningJvm jvm, String problem) {
        return new ProcessConnections(
                Optional.empty(),
                Optional.of(jvm.pid()),
                jvm.program(),
                Optional.empty(),
                false,
                Optional.of(problem),
                List.of(),
                List.of());
    }

    /** Returns a copy without characters that are unsafe to print on a terminal. */
    ProcessConnections printable() {
        return new ProcessConnections(
                source.map(PrintableText::of),
                process,
                PrintableText.of(program),
                taken,
                ended,
                problem.map(PrintableText::of),
                connections.stream().map(ProcessConnections::printable).toList(),
                closed.stream().map(ProcessConnections::printable).toList());
    }

    private static Line printable(Line line) {
        return new Line(
                PrintableText.of(line.local()),
                PrintableText.of(line.peer()),
                line.accepted(),
                PrintableText.of(line.transport()),
                PrintableText.of(line.whyNotFaster()),
                line.bytesReceived(),
                line.bytesSent(),
                PrintableText.of(line.since()));
    }

    /** Returns the title, for example {@code process 4711, org.example.Storage}. */
    String title() {
        var number = process.map(pid -> "process " + pid).orElse("a process");
        return program.isEmpty() ? number : number + ", " + program;
    }
}
