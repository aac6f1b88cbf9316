package org.jrdma.cli.net;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.Output;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;
import org.jrdma.sockets.model.ConnectionsSnapshot;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists who is connected how. */
@Command(
        name = "net",
        description = {
            "Lists the connections of the JVMs here that use jrdma's sockets: peer, transport, why no faster one, bytes.",
            "A JVM that uses them is told to start its local management, as jconsole does. One that cannot be asked is named with the reason; it can tell of itself in a file."
        },
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:what is there is listed, be it nothing",
            "1:a file or process that was named could not be read",
            "2:the command line is wrong"
        })
public final class NetCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private Output output;

    @Option(
            names = {"-p", "--pid"},
            split = ",",
            paramLabel = "PID",
            description = "Of these processes alone, be they of another user.")
    private List<Long> processes = List.of();

    @Parameters(
            paramLabel = "FILE",
            description =
                    "Of the processes that have written these files, instead of those that run: with -Djrdma.sockets.report=FILE, or as a flight recording.")
    private List<Path> files = List.of();

    private boolean cannotAsk;

    @Override
    public Integer call() throws IOException {
        var found = new ArrayList<NetProcess>();
        var isWhole = true;
        for (var file : files) {
            isWhole &= read(file, found);
        }
        if (files.isEmpty() || !processes.isEmpty()) {
            isWhole &= ask(found);
        }
        if (output.isJson()) {
            out().println(Json.of(found));
        } else {
            print(found);
        }
        return isWhole ? 0 : 1;
    }

    private boolean read(Path file, List<NetProcess> found) {
        try {
            found.add(
                    Files.exists(file) && Recorded.is(file)
                            ? Recorded.read(file)
                            : NetProcess.of(
                                    Optional.of(file.toString()), ConnectionsSnapshot.read(file)));
            return true;
        } catch (NoSuchFileException e) {
            errors().printf("There is no file %s%n", file);
        } catch (AccessDeniedException e) { // whose message is the file alone
            errors().printf("%s cannot be read: permission denied%n", file);
        } catch (FabricException e) {
            errors().println(e.getMessage());
        } catch (IOException e) {
            errors().printf("%s cannot be read: %s%n", file, e.getMessage());
        }
        return false;
    }

    private boolean ask(List<NetProcess> found) throws IOException {
        if (ModuleLayer.boot().findModule("jdk.attach").isEmpty()) {
            cannotAsk = true;
            errors().println(
                            "This Java cannot ask others: it has no module jdk.attach. Take one of a JDK, or give a FILE.");
            return false;
        }
        var isWhole = true;
        var known = Asking.known();
        var asked = new ArrayList<Asking>();
        if (processes.isEmpty()) {
            var self = ProcessHandle.current().pid();
            Jvms.OF_THIS_MACHINE.all(known).stream()
                    .filter(jvm -> jvm.pid() != self)
                    .forEach(jvm -> asked.add(Asking.begin(jvm, false)));
        }
        for (var pid : processes) {
            var jvm = Jvms.OF_THIS_MACHINE.jvm(pid, known.contains(pid));
            jvm.ifPresentOrElse(
                    named -> asked.add(Asking.begin(named, true)),
                    () -> errors().printf("There is no JVM with the number %d%n", pid));
            isWhole &= jvm.isPresent();
        }
        for (var asking : asked) {
            var answer = asking.await();
            isWhole &= processes.isEmpty() || answer.flatMap(NetProcess::problem).isEmpty();
            answer.ifPresent(found::add);
        }
        return isWhole;
    }

    private void print(List<NetProcess> found) {
        var silent = found.stream().filter(process -> process.problem().isPresent()).toList();
        for (var process : found) {
            if (process.problem().isEmpty()) {
                print(process);
            }
        }
        if (files.isEmpty() && !cannotAsk && silent.size() == found.size()) {
            out().printf(
                            "%s%s uses jrdma's sockets.%n",
                            processes.isEmpty() ? "No JVM here" : "None of these JVMs",
                            silent.isEmpty() ? "" : " that can be asked");
        }
        for (var process : silent) {
            out().printf("%s: not known: %s%n", process.title(), process.problem().orElseThrow());
        }
        if (!silent.isEmpty()) {
            out().println(
                            """
                            Who cannot be asked can tell of itself, if it is started with
                              -Djrdma.sockets.report=FILE                   its open streams, anew every two seconds
                              -XX:StartFlightRecording:filename=FILE        the closed ones too, when it has ended; "jcmd PID JFR.dump" before
                            Then: jrdma net FILE\
                            """);
        }
    }

    private void print(NetProcess process) {
        out().print(process.title());
        process.source().ifPresent(file -> out().printf(", by %s", file));
        if (process.source().isPresent()) {
            var words = process.ended() ? ", ended at " : " of ";
            process.taken().ifPresent(when -> out().print(words + when));
        }
        out().println(process.connections().isEmpty() ? ": no stream is open" : "");
        printStreams(process.connections());
        if (!process.closed().isEmpty()) {
            out().println("closed before:");
            printStreams(process.closed());
        }
    }

    private void printStreams(List<Line> connections) {
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
