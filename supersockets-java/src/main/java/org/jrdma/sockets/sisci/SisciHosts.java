package org.jrdma.sockets.sisci;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.LocalAddresses;

/**
 * Maps IP addresses to SISCI nodes, by a table in the format of Dolphin's dishosts.conf:
 *
 * <ul>
 *   <li>{@code HOSTNAME:} starts a host, with its name or address.
 *   <li>{@code ADAPTER:} has the name of an adapter, the id of the node and the number of the
 *       adapter. The first adapter of a host determines the node of the host.
 *   <li>{@code SOCKET:} assigns another name or address to the node of a named adapter.
 *   <li>Other keywords, and text after a {@code #}, are ignored.
 * </ul>
 *
 * <p>An address of this machine that the table does not contain belongs to this node. The addresses
 * of the names are cached for a minute, so that most connects do not wait for a name service. Safe
 * for use by multiple threads.
 */
public final class SisciHosts {

    private static final Duration RESOLVE_INTERVAL = Duration.ofMinutes(1);

    private final Path file;
    private final Map<String, Integer> nodes;
    private final NameService names;

    private volatile Resolved resolved = new Resolved(Map.of(), Deadline.after(Duration.ZERO));

    @FunctionalInterface
    interface NameService {
        InetAddress[] addressesOf(String name) throws UnknownHostException;
    }

    /** The node ids of the table by IP address. */
    private record Resolved(Map<InetAddress, Integer> nodes, Deadline until) {}

    private SisciHosts(Path file, Map<String, Integer> nodes, NameService names) {
        this.file = file;
        this.nodes = Map.copyOf(nodes);
        this.names = names;
    }

    /** Reads a table. Returns an empty table if the file does not exist. */
    public static SisciHosts readIfThere(Path file) throws FabricException {
        return Files.exists(file)
                ? read(file)
                : new SisciHosts(file, Map.of(), InetAddress::getAllByName);
    }

    /**
     * Reads a table.
     *
     * @throws FabricException if the file is missing or a line is malformed; the message has the
     *     number of the line
     */
    public static SisciHosts read(Path file) throws FabricException {
        return read(file, InetAddress::getAllByName);
    }

    static SisciHosts read(Path file, NameService names) throws FabricException {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            throw new FabricException("there is no hosts file %s".formatted(file), 0, e);
        } catch (IOException e) {
            throw new FabricException("%s cannot be read: %s".formatted(file, e), 0, e);
        }
        var reader = new Reader(file);
        for (var line : lines) {
            reader.read(line);
        }
        return new SisciHosts(file, reader.nodes(), names);
    }

    private static final class Reader {

        private record Host(String name, String adapter, int line) {}

        private final Path file;
        private final Map<String, Integer> adapters = new HashMap<>();
        private final Map<String, Integer> nodes = new HashMap<>();
        private final List<Host> sockets = new ArrayList<>();
        private String host = "";
        private int number;

        Reader(Path file) {
            this.file = file;
        }

        void read(String line) throws FabricException {
            number++;
            var words = line.replaceFirst("#.*", "").strip().split("\\s+");
            switch (words[0]) {
                case "HOSTNAME:" -> {
                    requireFields(words, 2, "a name or an address");
                    host = words[1];
                }
                case "ADAPTER:" -> {
                    requireFields(
                            words,
                            4,
                            "the name of an adapter, the id of a node and the number of the adapter");
                    if (host.isEmpty()) {
                        throw malformed("ADAPTER: before any HOSTNAME:", number);
                    }
                    var node = node(words[2]);
                    adapters.put(words[1], node);
                    nodes.putIfAbsent(host, node);
                }
                case "SOCKET:" -> {
                    requireFields(words, 3, "a name or an address, and the name of an adapter");
                    sockets.add(new Host(words[1], words[2], number));
                }
                default -> requireKeyword(words[0]);
            }
        }

        private void requireKeyword(String word) throws FabricException {
            if (!word.matches("([A-Z_]+:)?")) {
                throw malformed(
                        "unexpected \"%s\"; a line starts with a keyword such as HOSTNAME:"
                                .formatted(word),
                        number);
            }
        }

        private void requireFields(String[] words, int count, String fields)
                throws FabricException {
            if (words.length < count) {
                throw malformed("%s needs %s".formatted(words[0], fields), number);
            }
        }

        private int node(String word) throws FabricException {
            try {
                return Integer.parseUnsignedInt(word);
            } catch (NumberFormatException _) {
                throw malformed("\"%s\" is not a node id".formatted(word), number);
            }
        }

        private FabricException malformed(String why, int line) {
            return new FabricException("%s:%d: %s".formatted(file, line, why));
        }

        Map<String, Integer> nodes() throws FabricException {
            for (var socket : sockets) {
                var node = adapters.get(socket.adapter);
                if (node == null) {
                    throw malformed("unknown adapter " + socket.adapter, socket.line);
                }
                nodes.put(socket.name, node);
            }
            return nodes;
        }
    }

    /**
     * Returns the node id of the host that has an IP address. May block to resolve the names of the
     * table.
     *
     * @param thisNode the id of this node, to which the addresses of this machine belong if the
     *     table does not contain them
     * @throws FabricException if the address belongs to no node of the table and not to this
     *     machine
     */
    public int nodeOf(InetAddress address, int thisNode) throws FabricException {
        var inTable = find(address);
        if (inTable.isPresent()) {
            return inTable.getAsInt();
        }
        if (LocalAddresses.has(address)) {
            return thisNode;
        }
        throw new FabricException(
                "%s has no node for %s".formatted(file, address.getHostAddress()));
    }

    private OptionalInt find(InetAddress address) {
        var byText = nodes.get(address.getHostAddress());
        var node = byText == null ? resolved().get(address) : byText;
        return node == null ? OptionalInt.empty() : OptionalInt.of(node);
    }

    private Map<InetAddress, Integer> resolved() {
        var known = resolved;
        if (known.until.hasPassed()) {
            var byAddress = new HashMap<InetAddress, Integer>();
            nodes.forEach((name, node) -> resolve(name, node, byAddress));
            known = new Resolved(byAddress, Deadline.after(RESOLVE_INTERVAL));
            resolved = known;
        }
        return known.nodes;
    }

    private void resolve(String name, int node, Map<InetAddress, Integer> byAddress) {
        try {
            for (var address : names.addressesOf(name)) {
                byAddress.putIfAbsent(address, node);
            }
        } catch (UnknownHostException _) {
            // The host is ignored, because this machine cannot resolve its name.
        }
    }
}
