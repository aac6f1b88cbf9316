package org.jrdma.volume;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.Function;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.net.NodeAddresses;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a server or client, in the form of a properties file. The resource {@code
 * volume.properties} has the defaults and describes the keys.
 *
 * @param servers the addresses of each server
 * @param transports the transports, the most preferred first
 * @param datagramReads whether unreliable datagrams move the data of large reads over verbs
 * @param drive the drive; empty to use the drive of a server
 * @param name the name of this node; empty for the name of its host
 * @param listen the address at which a server accepts sockets; unresolved, because a client may not
 *     know the host
 * @param lease the time after which a coordinator that does not renew its lease has lost its role
 * @param session the time after which a client that does not report has lost its session
 * @param retry the time after which an operation of a client fails if no server executes it
 */
public record NodeSettings(
        List<List<String>> servers,
        List<TransportKind> transports,
        boolean datagramReads,
        Optional<DriveName> drive,
        String name,
        InetSocketAddress listen,
        Duration lease,
        Duration session,
        Duration retry) {

    private static final String DEFAULTS = "volume.properties";
    private static final int MIN_MILLIS = 100;
    private static final int MAX_MILLIS = 86_400_000;

    /**
     * Parses settings.
     *
     * @param file a file that replaces some of the defaults
     * @param options the settings that replace those of the file, by key
     * @throws IllegalArgumentException if a key is unknown or occurs twice, or a value is invalid
     * @throws IOException if the file cannot be read
     */
    public static NodeSettings read(Optional<Path> file, Map<String, String> options)
            throws IOException {
        var values = defaults();
        var keys = new TreeSet<>(values.stringPropertyNames());
        if (file.isPresent()) {
            values.putAll(load(file.get()));
        }
        options.forEach(values::setProperty);
        for (var key : new TreeSet<>(values.stringPropertyNames())) {
            if (!keys.contains(key)) {
                throw new IllegalArgumentException(
                        "There is no setting \"%s\". The settings are: %s."
                                .formatted(key, String.join(", ", keys)));
            }
        }
        return new NodeSettings(
                parse(values, "servers", NodeAddresses::servers),
                parse(values, "transports", NodeSettings::transports),
                parse(values, "datagram.reads", NodeSettings::trueOrFalse),
                parse(values, "drive", NodeSettings::drive),
                parse(values, "name", name -> name),
                parse(values, "listen", NodeAddresses::unresolved),
                parse(values, "lease.millis", NodeSettings::millis),
                parse(values, "session.millis", NodeSettings::millis),
                parse(values, "retry.millis", NodeSettings::millis));
    }

    private static Properties defaults() throws IOException {
        var defaults = new Properties();
        try (var text =
                new InputStreamReader(
                        Objects.requireNonNull(NodeSettings.class.getResourceAsStream(DEFAULTS)),
                        UTF_8)) {
            defaults.load(text);
        }
        return defaults;
    }

    private static Properties load(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new IOException("The settings file %s is a folder.".formatted(file));
        }
        var values = new UniqueProperties();
        try (var reader = Files.newBufferedReader(file)) {
            values.load(reader);
            return values;
        } catch (NoSuchFileException e) {
            throw new IOException("The settings file %s does not exist.".formatted(file), e);
        } catch (CharacterCodingException e) {
            throw new IOException("The settings file %s is not text.".formatted(file), e);
        } catch (AccessDeniedException e) {
            throw new IOException(
                    "The access to the settings file %s was denied.".formatted(file), e);
        } catch (FileSystemException e) {
            throw new IOException(
                    "Cannot read the settings file %s: %s.".formatted(file, e.getReason()), e);
        }
    }

    /** Rejects a key that occurs twice. */
    private static final class UniqueProperties extends Properties {

        private static final long serialVersionUID = 1;

        @Override
        public synchronized @Nullable Object put(Object key, Object value) {
            if (containsKey(key)) {
                throw new IllegalArgumentException(
                        "The setting \"%s\" occurs twice.".formatted(key));
            }
            return super.put(key, value);
        }
    }

    private static <T> T parse(Properties values, String key, Function<String, T> parser) {
        try {
            return parser.apply(values.getProperty(key).strip());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "Invalid setting \"%s\": %s".formatted(key, e.getMessage()), e);
        }
    }

    private static List<TransportKind> transports(String text) {
        var transports = new ArrayList<TransportKind>();
        for (var name : text.split(",", -1)) {
            var transport =
                    List.of(TransportKind.values()).stream()
                            .filter(each -> each.toString().equals(name.strip()))
                            .findAny()
                            .orElseThrow(() ->
                                    new IllegalArgumentException(
                                            "there is no transport \"%s\". The transports are: verbs, sisci, sockets"
                                                    .formatted(name.strip())));
            if (transports.contains(transport)) {
                throw new IllegalArgumentException("%s occurs twice".formatted(transport));
            }
            transports.add(transport);
        }
        return transports;
    }

    private static boolean trueOrFalse(String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default ->
                    throw new IllegalArgumentException(
                            "\"%s\" is neither true nor false".formatted(text));
        };
    }

    private static Optional<DriveName> drive(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(new DriveName(text));
    }

    private static Duration millis(String text) {
        var millis = text.matches("\\d{1,9}") ? Integer.parseInt(text) : -1;
        if (millis < MIN_MILLIS || millis > MAX_MILLIS) {
            throw new IllegalArgumentException(
                    "\"%s\" is not a whole number from %d to %d"
                            .formatted(text, MIN_MILLIS, MAX_MILLIS));
        }
        return Duration.ofMillis(millis);
    }

    /** Returns the options of a client. */
    public NodeOptions nodeOptions() {
        return NodeOptions.ALL.transports(transports).datagramReads(datagramReads);
    }

    /**
     * Returns the options of a server, with the address to listen at.
     *
     * @throws UnknownHostException if the host of that address is unknown
     */
    public NodeOptions serverOptions() throws UnknownHostException {
        var address = new InetSocketAddress(listen.getHostString(), listen.getPort());
        if (address.isUnresolved()) {
            throw new UnknownHostException(
                    "Cannot listen at %s: the host is unknown.".formatted(listen.getHostString()));
        }
        return nodeOptions().socketAddress(address);
    }

    /** Returns the name of this node, which is the name of its host by default. */
    public String nodeName() {
        return name.isEmpty() ? hostName() : name;
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException _) { // the host does not know its own address
            return "localhost";
        }
    }
}
