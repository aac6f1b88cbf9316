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
import org.jrdma.sockets.internal.NetworkNamespace;

/**
 * Which node has which address, by a table like Dolphin's dishosts.conf: a line {@code HOSTNAME:}
 * with a name or an address, then {@code ADAPTER:} with a name, the id of the node and the number
 * of the adapter, of which the first is taken. {@code SOCKET:} gives an adapter, by its name, one
 * more name or address. Lines with other words of that kind are for others, and left out; so is
 * what follows a {@code #}. An address of this machine that stands in no line is this node's.
 *
 * <p>What the names of the table lead to is asked again after a while, so that a connect does not
 * wait for a name service. Safe for use by several threads.
 */
public final class SisciHosts {

    private static final Duration MEMORY = Duration.ofMinutes(1);

    private final Path file;
    private final Map<String, Integer> nodes;
    private final NameService names;

    private volatile Resolved resolved = new Resolved(Map.of(), Deadline.after(Duration.ZERO));

    /** Which addresses a name has. */
    @FunctionalInterface
    interface NameService {
        InetAddress[] addressesOf(String name) throws UnknownHostException;
    }

    /** The nodes of the table by their addresses. */
    private record Resolved(Map<InetAddress, Integer> nodes, Deadline until) {}

    private SisciHosts(Path file, Map<String, Integer> nodes, NameService names) {
        this.file = file;
        this.nodes = Map.copyOf(nodes);
        this.names = names;
    }

    /** Reads a table that a machine may have; where there is none, it is empty. */
    public static SisciHosts readIfThere(Path file) throws FabricException {
        return Files.exists(file)
                ? read(file)
                : new SisciHosts(file, Map.of(), InetAddress::getAllByName);
    }

    /**
     * Reads a table.
     *
     * @throws FabricException if it is missing, or a line makes no sense, with its number
     */
    public static SisciHosts read(Path file) throws FabricException {
        return read(file, InetAddress::getAllByName);
    }

    static SisciHosts read(Path file, NameService names) throws FabricException {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (NoSuchFileException e) {
            throw new FabricException("there is no table of hosts %s".formatted(file), 0, e);
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
                    need(words, 2, "a name or an address");
                    host = words[1];
                }
                case "ADAPTER:" -> {
                    need(words, 4, "a name, a node and the number of an adapter");
                    if (host.isEmpty()) {
                        throw wrong("ADAPTER: before any HOSTNAME:", number);
                    }
                    var node = node(words[2]);
                    adapters.put(words[1], node);
                    nodes.putIfAbsent(host, node);
                }
                case "SOCKET:" -> {
                    need(words, 3, "a name or an address, and the name of an adapter");
                    sockets.add(new Host(words[1], words[2], number));
                }
                default -> needWordOfATable(words[0]); // for others
            }
        }

        private void needWordOfATable(String word) throws FabricException {
            if (!word.matches("([A-Z_]+:)?")) {
                throw wrong("\"%s\" begins no line; HOSTNAME: does".formatted(word), number);
            }
        }

        private void need(String[] words, int count, String what) throws FabricException {
            if (words.length < count) {
                throw wrong("%s needs %s".formatted(words[0], what), number);
            }
        }

        private int node(String word) throws FabricException {
            try {
                return Integer.parseUnsignedInt(word);
            } catch (NumberFormatException _) {
                throw wrong("\"%s\" is no node".formatted(word), number);
            }
        }

        private FabricException wrong(String why, int line) {
            return new FabricException("%s:%d: %s".formatted(file, line, why));
        }

        Map<String, Integer> nodes() throws FabricException {
            for (var socket : sockets) {
                var node = adapters.get(socket.adapter);
                if (node == null) {
                    throw wrong("there is no adapter " + socket.adapter, socket.line);
                }
                nodes.put(socket.name, node);
            }
            return nodes;
        }
    }

    /**
     * The node that has an address. May block, to resolve the names of the table.
     *
     * @param own this node
     * @throws FabricException if none is known
     */
    public int nodeOf(InetAddress address, int own) throws FabricException {
        var inTable = find(address);
        if (inTable.isPresent()) {
            return inTable.getAsInt();
        }
        if (NetworkNamespace.has(address)) {
            return own;
        }
        throw new FabricException(
                "%s names no node for %s".formatted(file, address.getHostAddress()));
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
            known = new Resolved(byAddress, Deadline.after(MEMORY));
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
            // a host of the table that this one knows nothing of
        }
    }
}
