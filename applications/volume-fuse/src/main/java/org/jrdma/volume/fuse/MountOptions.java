package org.jrdma.volume.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.net.TransportKind;

/**
 * The command line of {@link Mount}, with the settings of the command {@code jrdma volume}.
 * Settings that a mount does not need are ignored.
 *
 * @param servers the addresses of each server
 * @param drive the drive of the volume; empty to redirect all data
 */
record MountOptions(
        Path mountPoint,
        List<List<String>> servers,
        Optional<DriveName> drive,
        List<TransportKind> transports,
        boolean datagramReads,
        Duration retry,
        boolean isForAllUsers) {

    static final String USAGE =
            """
            Usage: ./jrdma volume mount [OPTIONS] FOLDER
            Mounts a volume at a folder, until "umount FOLDER" or Ctrl+C.

              --allow-other      gives all users access, subject to the permissions
              --config=FILE      a file with settings, which the options replace
              --drive=DRIVE      the drive: a file, the id of a lent NVMe controller, or
                                 a group such as mirror:0x401,0x402
                                 (default: redirected)
              --servers=LIST     the servers (default: localhost:7471)
              --transports=LIST  the transports, the most preferred first
                                 (default: verbs,sisci,sockets)
            """;

    private static final Pattern OPTION =
            Pattern.compile("--(?:(allow-other)|(config|drive|servers|transports)=(.*))");

    private static final String PORT = ":7471";

    /**
     * Parses a command line.
     *
     * @throws IllegalArgumentException if an argument or setting is invalid
     * @throws IOException if the folder does not exist, or the file of settings cannot be read
     */
    static MountOptions parse(List<String> arguments) throws IOException {
        var options = new Properties();
        var folders = arguments.stream().filter(each -> !each.startsWith("--")).toList();
        for (var argument : arguments) {
            var option = OPTION.matcher(argument);
            if (option.matches()) {
                var isFlag = option.group(1) != null;
                options.put(
                        isFlag ? option.group(1) : option.group(2), isFlag ? "" : option.group(3));
            } else if (!folders.contains(argument)) {
                throw new IllegalArgumentException("Invalid option \"%s\"".formatted(argument));
            }
        }
        if (folders.size() != 1) {
            throw new IllegalArgumentException("Give one folder, not " + folders.size());
        }
        var settings = new Properties();
        if (options.containsKey("config")) {
            try (var reader = Files.newBufferedReader(Path.of(options.getProperty("config")))) {
                settings.load(reader);
            }
        }
        settings.putAll(options);
        return new MountOptions(
                Path.of(folders.getFirst()).toRealPath(),
                list(settings.getProperty("servers", "localhost"), ",").stream()
                        .map(server ->
                                list(server, "\\+").stream().map(MountOptions::address).toList())
                        .toList(),
                Optional.of(settings.getProperty("drive", ""))
                        .filter(drive -> !drive.isBlank())
                        .map(drive -> new DriveName(drive.strip())),
                list(settings.getProperty("transports", "verbs,sisci,sockets"), ",").stream()
                        .map(MountOptions::transport)
                        .toList(),
                datagramReads(settings.getProperty("datagram.reads", "false").strip()),
                Duration.ofMillis(Long.parseLong(settings.getProperty("retry.millis", "30000"))),
                options.containsKey("allow-other"));
    }

    private static boolean datagramReads(String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default ->
                    throw new IllegalArgumentException(
                            "Invalid setting \"datagram.reads\": \"%s\" is neither true nor false"
                                    .formatted(text));
        };
    }

    private static List<String> list(String text, String separator) {
        return List.of(text.strip().split("\\s*" + separator + "\\s*"));
    }

    /** Returns an address with its transport, which is sockets by default, and its port. */
    private static String address(String text) {
        for (var transport : TransportKind.values()) {
            if (text.startsWith(transport + ":")) {
                return text;
            }
        }
        var hasPort = text.indexOf(':', text.indexOf(']') + 1) >= 0;
        return TransportKind.SOCKETS + ":" + text + (hasPort ? "" : PORT);
    }

    private static TransportKind transport(String name) {
        for (var transport : TransportKind.values()) {
            if (transport.toString().equals(name)) {
                return transport;
            }
        }
        throw new IllegalArgumentException(
                "There is no transport \"%s\". The transports are: verbs, sisci, sockets."
                        .formatted(name));
    }
}
