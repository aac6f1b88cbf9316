package org.jrdma.sockets.policy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The rules that select the transports of streams and listeners by their addresses. The first rule
 * that matches an address applies. Each rule is one line with an operation, hosts, ports and
 * transports:
 *
 * <pre>{@code
 * connect  storage01,10.77.0.0/16  8003-8008,9000  supersockets,smc  no-fallback
 * listen   *                       8003            smc
 * }</pre>
 *
 * <p>TCP is added at the end of the transports of a rule, unless the rule lists TCP itself or ends
 * with {@code no-fallback}.
 *
 * @param rules the rules, in the order in which they are compared with an address
 */
public record Policy(List<Rule> rules) {

    private static final String NO_FALLBACK = "no-fallback";
    private static final int LAST_PORT = 65_535;

    public Policy {
        rules = List.copyOf(rules);
    }

    enum Direction {
        CONNECT,
        LISTEN
    }

    /**
     * A rule, which matches an address if the operation, the host and the port match.
     *
     * @param direction the operation to which the rule applies
     * @param hosts the conditions on the address to connect to or to listen at, of which at least
     *     one must be true
     * @param ports the port ranges, of which at least one must contain the port of the address
     * @param transports the transports to use, in order of preference
     */
    public record Rule(
            Direction direction,
            List<Predicate<InetSocketAddress>> hosts,
            List<Ports> ports,
            TransportList transports) {

        boolean matches(Direction operation, InetSocketAddress address) {
            return direction == operation
                    && ports.stream().anyMatch(range -> range.contains(address.getPort()))
                    && hosts.stream().anyMatch(host -> host.test(address));
        }
    }

    record Ports(int first, int last) {
        boolean contains(int port) {
            return first <= port && port <= last;
        }
    }

    /**
     * Returns the transports of the first rule that matches a connection to {@code peer}; empty if
     * no rule matches.
     */
    public Optional<TransportList> forPeer(InetSocketAddress peer) {
        return find(Direction.CONNECT, peer);
    }

    /**
     * Returns the transports of the first rule that matches a listener at {@code address}; empty if
     * no rule matches.
     */
    public Optional<TransportList> forListener(InetSocketAddress address) {
        return find(Direction.LISTEN, address);
    }

    private Optional<TransportList> find(Direction direction, InetSocketAddress address) {
        return rules.stream()
                .filter(rule -> rule.matches(direction, address))
                .map(Rule::transports)
                .findFirst();
    }

    /**
     * Parses the lines of a policy file. Ignores empty lines, and the rest of a line after a {@code
     * #}.
     *
     * @param source the name of the file, for messages
     * @throws IllegalArgumentException if a line is malformed; the message names {@code source} and
     *     the line
     */
    public static Policy parse(String source, List<String> lines) {
        var rules = new ArrayList<Rule>();
        for (var i = 0; i < lines.size(); i++) {
            var line = lines.get(i).replaceFirst("#.*", "").strip();
            if (line.isEmpty()) {
                continue;
            }
            try {
                rules.add(rule(line.split("\\s+", -1)));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "%s:%d: %s".formatted(source, i + 1, e.getMessage()), e);
            }
        }
        return new Policy(rules);
    }

    private static Rule rule(String[] fields) {
        var direction =
                switch (fields[0]) {
                    case "connect" -> Direction.CONNECT;
                    case "listen" -> Direction.LISTEN;
                    default ->
                            throw new IllegalArgumentException(
                                    "a rule starts with connect or listen, not with \"%s\""
                                            .formatted(fields[0]));
                };
        if (fields.length < 4 || fields.length > 5) {
            throw new IllegalArgumentException(
                    "a rule has the fields connect or listen, hosts, ports, transports, and optionally %s"
                            .formatted(NO_FALLBACK));
        }
        if (fields.length == 5 && !fields[4].equals(NO_FALLBACK)) {
            throw new IllegalArgumentException(
                    "unexpected \"%s\" after the transports; only %s is allowed there"
                            .formatted(fields[4], NO_FALLBACK));
        }
        var transports = TransportList.parse(fields[3]);
        return new Rule(
                direction,
                each(fields[1], Policy::host),
                each(fields[2], Policy::ports),
                fields.length == 5 ? transports : transports.orTcp());
    }

    private static <T> List<T> each(String field, Function<String, T> parser) {
        return Arrays.stream(field.split(",", -1)).map(parser).toList();
    }

    private static Predicate<InetSocketAddress> host(String text) {
        if (text.equals("*")) {
            return _ -> true;
        }
        if (text.contains("/")) {
            return network(text);
        }
        if (text.contains(":") || text.matches("[0-9.]+")) {
            var address = literal(text, text);
            return peer -> address.equals(peer.getAddress());
        }
        if (!text.matches("[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")) {
            throw new IllegalArgumentException(
                    "\"%s\" is not a host; expected a name, an address, a network such as 10.77.0.0/16, or *"
                            .formatted(text));
        }
        // The names are compared as they were written; neither is resolved.
        return peer -> text.equalsIgnoreCase(peer.getHostString());
    }

    private static Predicate<InetSocketAddress> network(String text) {
        var slash = text.indexOf('/');
        var network = literal(text.substring(0, slash), text).getAddress();
        var maxBits = network.length * Byte.SIZE;
        var bits =
                number(text.substring(slash + 1), 0, maxBits)
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        "\"%s\" has an invalid prefix length; expected 0 to %d bits"
                                                .formatted(text, maxBits)));
        return peer -> {
            var address = peer.getAddress().getAddress();
            if (address.length != network.length) {
                return false;
            }
            for (var bit = 0; bit < bits; bit++) {
                var mask = 0x80 >> (bit % Byte.SIZE);
                if (((address[bit / Byte.SIZE] ^ network[bit / Byte.SIZE]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        };
    }

    private static InetAddress literal(String address, String text) {
        try {
            return InetAddress.ofLiteral(address);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("\"%s\" is not an address".formatted(text), e);
        }
    }

    private static Ports ports(String text) {
        if (text.equals("*")) {
            return new Ports(0, LAST_PORT);
        }
        var dash = text.indexOf('-');
        var from = number(dash < 0 ? text : text.substring(0, dash), 1, LAST_PORT);
        return from.flatMap(first ->
                        dash < 0
                                ? Optional.of(new Ports(first, first))
                                : number(text.substring(dash + 1), first, LAST_PORT)
                                        .map(last -> new Ports(first, last)))
                .orElseThrow(() ->
                        new IllegalArgumentException(
                                "\"%s\" is not a port; expected a port such as 8003, a range such as 8003-8008, up to %d, or *"
                                        .formatted(text, LAST_PORT)));
    }

    private static Optional<Integer> number(String digits, int min, int max) {
        try {
            var number = Integer.parseInt(digits);
            return min <= number && number <= max ? Optional.of(number) : Optional.empty();
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }
}
