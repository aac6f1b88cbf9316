package org.jrdma.volume.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.jrdma.volume.net.NodeTransport;

/**
 * The command line of {@link Mount}. A file of settings is the same as that of the command {@code
 * jrdma volume}. The settings that a mount does not use are ignored.
 *
 * @param mountPoint the folder that becomes the root of the volume
 * @param servers the addresses of each server
 * @param drive the file that is the drive of the volume; empty to redirect all data
 * @param isForAllUsers true if all users can use the files, subject to their permissions
 */
record MountOptions(
        Path mountPoint,
        List<List<String>> servers,
        Optional<Path> drive,
        List<NodeTransport> transports,
        Duration retry,
        boolean isForAllUsers) {

    static final String USAGE =
            """
            Usage: Mount [--config=FILE] [--servers=SERVERS] [--drive=FILE]
                         [--transports=TRANSPORTS] [--allow-other] FOLDER
            Mounts a volume at an empty folder, until "umount FOLDER" or Ctrl+C.

              --config=FILE       a file with settings, which the options replace
              --servers=SERVERS   the servers, separated by commas
                                  (default: localhost:7471)
              --drive=FILE        the file that is the drive of the volume
                                  (default: the drive of a server)
              --transports=LIST   the transports, the most preferred first
                                  (default: verbs,sisci,sockets)
              --allow-other       gives all users access, subject to the
                                  permissions of the files
              --help              prints this help
            """;

    private static final Set<String> KEYS = Set.of("config", "servers", "drive", "transports");
    private static final String PORT = ":7471";

    /**
     * Parses a command line.
     *
     * @throws IllegalArgumentException if an argument or setting is invalid
     * @throws IOException if the file of settings cannot be read
     */
    static MountOptions parse(List<String> arguments) throws IOException {
        var options = new Properties();
        var folders = new ArrayList<Path>();
        for (var argument : arguments) {
            var parts = argument.split("=", 2);
            if (argument.equals("--allow-other")) {
                options.setProperty("allow-other", "");
            } else if (!argument.startsWith("--")) {
                folders.add(Path.of(argument));
            } else if (parts.length == 2 && KEYS.contains(parts[0].substring(2))) {
                options.setProperty(parts[0].substring(2), parts[1]);
            } else {
                throw new IllegalArgumentException(
                        "Invalid option \"%s\". See --help.".formatted(argument));
            }
        }
        if (folders.size() != 1) {
            throw new IllegalArgumentException(
                    "%d folders are given, and 1 is needed. See --help.".formatted(folders.size()));
        }
        var settings = new Properties();
        var file = options.getProperty("config");
        if (file != null) {
            try (var reader = Files.newBufferedReader(Path.of(file))) {
                settings.load(reader);
            }
        }
        settings.putAll(options);
        return new MountOptions(
                folders.getFirst().toRealPath(),
                list(settings.getProperty("servers", "localhost"), ",").stream()
                        .map(server -> list(server, "\\+").stream().map(MountOptions::address))
                        .map(addresses -> addresses.toList())
                        .toList(),
                Optional.of(settings.getProperty("drive", "").strip())
                        .filter(drive -> !drive.isEmpty())
                        .map(Path::of),
                list(settings.getProperty("transports", "verbs,sisci,sockets"), ",").stream()
                        .map(MountOptions::transport)
                        .toList(),
                Duration.ofMillis(Long.parseLong(settings.getProperty("retry.millis", "30000"))),
                options.containsKey("allow-other"));
    }

    private static List<String> list(String text, String separator) {
        return Arrays.stream(text.split(separator)).map(String::strip).toList();
    }

    /** Returns an address with its transport, which is sockets by default, and its port. */
    private static String address(String text) {
        for (var transport : NodeTransport.values()) {
            if (text.startsWith(transport + ":")) {
                return text;
            }
        }
        var hasPort = text.indexOf(':', text.indexOf(']') + 1) >= 0;
        return NodeTransport.SOCKETS + ":" + text + (hasPort ? "" : PORT);
    }

    private static NodeTransport transport(String name) {
        return Arrays.stream(NodeTransport.values())
                .filter(transport -> transport.toString().equals(name))
                .findAny()
                .orElseThrow(() ->
                        new IllegalArgumentException(
                                "There is no transport \"%s\". The transports are: verbs, sisci, sockets."
                                        .formatted(name)));
    }
}
