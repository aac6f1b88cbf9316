package org.jrdma.cli.net;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;
import org.jrdma.sockets.model.ConnectionsSnapshot;

/**
 * What is known of a process.
 *
 * @param source the file that tells of it; empty if the process itself does
 * @param process its number; empty if the file does not tell
 * @param program its main class or jar
 * @param taken when it was so; empty if that is not known
 * @param ended whether the process ended then, as far as its file tells
 * @param problem why nothing is known; empty if something is
 * @param connections that are open, the oldest first
 * @param closed of a recording those that were closed in it
 */
record NetProcess(
        Optional<String> source,
        Optional<Long> process,
        String program,
        Optional<Instant> taken,
        boolean ended,
        Optional<String> problem,
        List<Line> connections,
        List<Line> closed) {

    static NetProcess of(Optional<String> source, ConnectionsSnapshot snapshot) {
        return new NetProcess(
                source,
                Optional.of(snapshot.process()),
                snapshot.program(),
                Optional.of(snapshot.taken()),
                snapshot.isLast(),
                Optional.empty(),
                snapshot.connections(),
                List.of());
    }

    static NetProcess unknown(Jvm jvm, String problem) {
        return new NetProcess(
                Optional.empty(),
                Optional.of(jvm.pid()),
                jvm.program(),
                Optional.empty(),
                false,
                Optional.of(problem),
                List.of(),
                List.of());
    }

    /** {@code process 4711, org.example.Storage}. */
    String title() {
        var number = process.map(pid -> "process " + pid).orElse("a process");
        return program.isEmpty() ? number : number + ", " + program;
    }
}
