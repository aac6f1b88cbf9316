package org.jrdma.cli.net;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;
import org.jrdma.sockets.model.ConnectionsSnapshot;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Lists the socket connections of other JVMs. */
@Command(
        name = "net",
        description = {
            "Lists the connections of the JVMs on this machine that use jrdma sockets: peer, transport, the reason why no faster transport is used, and bytes.",
            "The command starts the local management agent in these JVMs, as jconsole does. A JVM that cannot be queried is listed with the reason. Such a JVM can write its connections to a file, which this command reads."
        },
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done; the list may be empty",
            "1:a named file or process could not be read",
            "2:invalid command line or system property"
        })
public final class NetCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Option(
            names = {"-p", "--pid"},
            split = ",",
            converter = ProcessId.class,
            paramLabel = "PID",
            description = "Only these processes, including other users' processes.")
    private List<Long> processes = List.of();

    @Parameters(
            paramLabel = "FILE",
            description =
                    "Reports or flight recordings to read instead of querying running processes. A process writes a report if it is started with -Djrdma.sockets.report=FILE.")
    private List<Path> files = List.of();

    /** Parses a process ID. */
    private static final class ProcessId implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            if (!text.matches("[1-9]\\d{0,9}")) {
                throw new TypeConversionException("\"%s\" is not a process ID".formatted(text));
            }
            return Long.valueOf(text);
        }
    }

    private boolean canAttach;

    @Override
    public Integer call() throws IOException {
        var found = new ArrayList<ProcessConnections>();
        var isComplete = true;
        canAttach = ModuleLayer.boot().findModule("jdk.attach").isPresent();
        for (var file : files) {
            isComplete &= read(file, found);
        }
        if (files.isEmpty() || !processes.isEmpty()) {
            isComplete &= query(found);
        }
        if (output.isJson()) {
            out().println(Json.of(found));
        } else {
            print(found.stream().map(ProcessConnections::printable).toList());
        }
        return isComplete ? 0 : 1;
    }

    private boolean read(Path file, List<ProcessConnections> found) {
        try {
            found.add(
                    Files.exists(file) && FlightRecordingReader.isRecording(file)
                            ? FlightRecordingReader.read(file)
                            : ProcessConnections.of(
                                    Optional.of(file.toString()), ConnectionsSnapshot.read(file)));
            return true;
        } catch (AccessDeniedException e) { // The exception's own message is only the file name.
            errors().printf("Cannot read %s: permission denied.%n", file);
        } catch (FabricException e) {
            errors().println(PrintableText.of(e.getMessage()));
        } catch (IOException e) {
            errors().printf(
                            "Cannot read %s: %s%n",
                            file, PrintableText.of(String.valueOf(e.getMessage())));
        }
        return false;
    }

    private boolean query(List<ProcessConnections> found) throws IOException {
        if (!canAttach) {
            errors().println(
                            "Cannot query other JVMs: this Java has no module jdk.attach. Use a JDK, or name a FILE to read.");
            return false;
        }
        var isComplete = true;
        var attachable = JvmConnectionsQuery.attachable();
        var queries = new ArrayList<JvmConnectionsQuery>();
        if (processes.isEmpty()) {
            var self = ProcessHandle.current().pid();
            Jvms.OF_THIS_MACHINE.all(attachable).stream()
                    .filter(jvm -> jvm.pid() != self)
                    .forEach(jvm -> queries.add(JvmConnectionsQuery.start(jvm, false)));
        }
        for (var pid : processes) {
            var jvm = Jvms.OF_THIS_MACHINE.jvm(pid, attachable.contains(pid));
            jvm.ifPresentOrElse(
                    named -> queries.add(JvmConnectionsQuery.start(named, true)),
                    () -> errors().printf("There is no JVM with process ID %d.%n", pid));
            isComplete &= jvm.isPresent();
        }
        for (var query : queries) {
            var answer = query.await();
            isComplete &=
                    processes.isEmpty() || answer.flatMap(ProcessConnections::problem).isEmpty();
            answer.ifPresent(found::add);
        }
        return isComplete;
    }

    private void print(List<ProcessConnections> found) {
        var unknown = found.stream().filter(process -> process.problem().isPresent()).toList();
        for (var process : found) {
            if (process.problem().isEmpty()) {
                print(process);
            }
        }
        if (files.isEmpty() && canAttach && unknown.size() == found.size()) {
            out().printf(
                            "%s%s uses jrdma sockets.%n",
                            processes.isEmpty() ? "No JVM on this machine" : "None of these JVMs",
                            unknown.isEmpty() ? "" : " that can be queried");
        }
        for (var process : unknown) {
            out().printf("%s: unknown: %s%n", process.title(), process.problem().orElseThrow());
        }
        if (!unknown.isEmpty()) {
            out().println(
                            """
                            A process that cannot be queried can write its connections to a file.
                            Start it with one of:
                              -Djrdma.sockets.report=FILE
                                  open connections, every two seconds
                              -XX:StartFlightRecording:filename=FILE
                                  closed connections too, at exit or by "jcmd PID JFR.dump"
                            Then run: jrdma net FILE\
                            """);
        }
    }

    private void print(ProcessConnections process) {
        out().print(process.title());
        process.source().ifPresent(file -> out().printf(", from %s", file));
        if (process.source().isPresent()) {
            var prefix = process.ended() ? ", ended at " : ", at ";
            process.taken().ifPresent(when -> out().print(prefix + when));
        }
        out().println(process.connections().isEmpty() ? ": no open connections" : "");
        printConnections(process.connections());
        if (!process.closed().isEmpty()) {
            out().println("closed connections:");
            printConnections(process.closed());
        }
    }

    private void printConnections(List<Line> connections) {
        new ConnectionsSnapshot(0, "", Instant.EPOCH, false, connections)
                .report()
                .lines()
                .forEach(line -> out().println("  " + line));
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }

    private PrintWriter errors() {
        return command.commandLine().getErr();
    }
}
