package org.jrdma.cli.volume;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import org.jrdma.cli.perf.ChildProcessPeer;
import org.jrdma.volume.NodeSettings;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.net.NodeAddresses;
import org.jrdma.volume.net.TransportKind;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a server of a volume. */
@Command(
        name = "serve",
        description =
                "Runs a server of a volume until Ctrl+C. The first server is the coordinator, and the others are standbys, of which one takes over when the coordinator is lost. Prints a line at the start and when the role changes.",
        mixinStandardHelpOptions = true)
public final class ServeCommand implements Callable<Integer> {

    private static final Duration PAUSE = Duration.ofMillis(100);

    /** The kind of event that a line of the output reports. */
    enum Event {
        STARTED,
        COORDINATOR,
        STANDBY
    }

    /** A line of the output. */
    record Line(
            Event event, String name, long epoch, List<String> addresses, List<String> missing) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;
    @Mixin private SettingsOptions settings;

    @Option(
            names = {"-n", "--name"},
            paramLabel = "NAME",
            description = "The name of this server in messages (default: the name of the host).")
    private Optional<String> name = Optional.empty();

    @Option(
            names = {"-l", "--listen"},
            paramLabel = "ADDRESS",
            description =
                    "The address to accept sockets at, such as 0.0.0.0:7471 (default: localhost:7471).")
    private Optional<String> listen = Optional.empty();

    @Option(
            names = "--lease",
            paramLabel = "MILLIS",
            description = "The lease of the coordinator; the same for all servers (default: 5000).")
    private Optional<String> lease = Optional.empty();

    @Option(
            names = "--session",
            paramLabel = "MILLIS",
            description =
                    "The timeout of the sessions of clients; the same for all servers (default: 5000).")
    private Optional<String> session = Optional.empty();

    @Option(names = ChildProcessPeer.OPTION, hidden = true)
    private boolean isChild;

    @Override
    public Integer call() throws IOException {
        var read = settings.read(options());
        var node = read.serverOptions();
        var drive = drive(read).open();
        if (isChild) {
            ChildProcessPeer.exitWithParent();
        }
        var server =
                VolumeServer.start(
                        drive,
                        ServerOptions.named(read.nodeName())
                                .others(read.servers())
                                .node(node)
                                .lease(read.lease())
                                .sessionTimeout(read.session()));
        var printer = Thread.currentThread();
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(() -> {
                            printer.interrupt(); // the end is not a change of the role
                            server.close(); // a standby takes over at once
                        }));
        warnIfUnlisted(read, server); // can take long, because it resolves names
        printEach(server);
        return 0;
    }

    /** Warns if the list of servers lacks this server, although other transports may be listed. */
    private void warnIfUnlisted(NodeSettings read, VolumeServer server) {
        for (var address : server.addresses()) {
            var port = address.substring(address.lastIndexOf(':') + 1);
            if (address.startsWith(TransportKind.SOCKETS + ":")
                    && !NodeAddresses.haveLocalPort(read.servers(), Integer.parseInt(port))) {
                command.commandLine()
                        .getErr()
                        .printf(
                                "Warning: the list of servers does not contain %s. Clients and other servers find this server only by their own lists.%n",
                                address);
                return;
            }
        }
    }

    private Map<String, String> options() {
        var options = new HashMap<String, String>();
        name.ifPresent(value -> options.put("name", value));
        listen.ifPresent(value -> options.put("listen", value));
        lease.ifPresent(value -> options.put("lease.millis", value));
        session.ifPresent(value -> options.put("session.millis", value));
        return options;
    }

    private DriveName drive(NodeSettings read) {
        return read.drive()
                .orElseThrow(() ->
                        new ParameterException(
                                command.commandLine(),
                                "Missing drive: use --drive or the setting \"drive\""));
    }

    private void printEach(VolumeServer server) {
        print(Event.STARTED, server);
        var last = Event.STANDBY;
        try {
            while (true) {
                var role = server.isCoordinator() ? Event.COORDINATOR : Event.STANDBY;
                if (role != last) {
                    print(role, server);
                    last = role;
                }
                Thread.sleep(PAUSE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // this command ends
        }
    }

    private void print(Event event, VolumeServer server) {
        var state = server.state();
        var line =
                new Line(
                        event, state.name(), state.epoch(), state.addresses(), state.unavailable());
        var text =
                switch (event) {
                    case STARTED ->
                            "serves %s at %s, until Ctrl+C"
                                    .formatted(state.drive(), String.join(", ", line.addresses()));
                    case COORDINATOR -> "is the coordinator of epoch %d".formatted(line.epoch());
                    case STANDBY -> "is a standby";
                };
        var out = command.commandLine().getOut();
        if (output.isJson()) {
            out.println(Json.of(line));
        } else {
            out.println(PrintableText.of("%s %s".formatted(line.name(), text)));
            if (event == Event.STARTED) {
                line.missing()
                        .forEach(reason -> out.println("  without " + PrintableText.of(reason)));
            }
        }
        out.flush();
    }
}
