package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jrdma.volume.NodeSettings;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that all commands with a connection to servers have. */
final class SettingsOptions {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description =
                    "A file with settings, such as \"servers = node1, node2\". The options replace its settings.")
    private Optional<Path> file = Optional.empty();

    @Option(
            names = {"-d", "--drive"},
            paramLabel = "DRIVE",
            description =
                    "The drive of the volume: a file, the id of a lent NVMe controller, such as 0x401, or several of them, such as stripes:0x401,0x402 or mirror:0x401,0x402.")
    private Optional<String> drive = Optional.empty();

    @Option(
            names = {"-s", "--servers"},
            paramLabel = "SERVERS",
            description =
                    "The servers, separated by commas, with the port 7471 by default (default: localhost).")
    private Optional<String> servers = Optional.empty();

    @Option(
            names = {"-t", "--transports"},
            paramLabel = "TRANSPORTS",
            description =
                    "The transports, the most preferred first (default: verbs,sisci,sockets).")
    private Optional<String> transports = Optional.empty();

    /** Returns the settings. */
    NodeSettings read() throws IOException {
        return read(Map.of());
    }

    /**
     * Returns the settings.
     *
     * @param options further settings that replace those of the file, by key
     */
    NodeSettings read(Map<String, String> options) throws IOException {
        var values = new HashMap<>(options);
        drive.ifPresent(value -> values.put("drive", value));
        servers.ifPresent(value -> values.put("servers", value));
        transports.ifPresent(value -> values.put("transports", value));
        try {
            return NodeSettings.read(file, values);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
    }
}
