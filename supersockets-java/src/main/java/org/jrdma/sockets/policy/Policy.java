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
 * Which streams take which transports: rules, of which the first that fits decides. One line each:
 *
 * <pre>{@code
 * connect  storage01,10.77.0.0/16  8003-8008,9000  supersockets,smc  no-fall-back
 * listen   *                       8003            smc
 * }</pre>
 *
 * @param rules in the order in which they are asked
 */
public record Policy(List<Rule> rules) {

    static final Policy WITHOUT_RULES = new Policy(List.of());

    private static final String NO_FALL_BACK = "no-fall-back";
    private static final int LAST_PORT = 65_535;

    public Policy {
        rules = List.copyOf(rules);
    }

    /** What a rule is for. */
    enum Direction {
        CONNECT,
        LISTEN
    }

    /**
     * A line.
     *
     * @param hosts of which one must fit: the peer's, or one's own where one listens
     * @param ports the same of the port at that address
     * @param transports those to be taken, in order
     */
    public record Rule(
            Direction direction,
            List<Predicate<InetSocketAddress>> hosts,
            List<Ports> ports,
            TransportList transports) {

        boolean fits(Direction wanted, InetSocketAddress address) {
            return direction == wanted
                    && ports.stream().anyMatch(range -> range.contains(address.getPort()))
                    && hosts.stream().anyMatch(host -> host.test(address));
        }
    }

    record Ports(int first, int last) {
        boolean contains(int port) {
            return first <= port && port <= last;
        }
    }

    /** What the first rule says that fits a connection to {@code peer}; empty if none does. */
    public Optional<TransportList> forPeer(InetSocketAddress peer) {
        return find(Direction.CONNECT, peer);
    }

    /** The same for what listens at {@code address}. */
    public Optional<TransportList> forListener(InetSocketAddress address) {
        return find(Direction.LISTEN, address);
    }

    private Optional<TransportList> find(Direction direction, InetSocketAddress address) {
        return rules.stream()
                .filter(rule -> rule.fits(direction, address))
                .map(Rule::transports)
                .findFirst();
    }

    /**
     * Reads rules.
     *
     * @throws IllegalArgumentException if a line is none, with {@code source} and its number
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
                                    "\"%s\" begins no rule; connect and listen do"
                                            .formatted(fields[0]));
                };
        if (fields.length < 4 || fields.length > 5) {
            throw new IllegalArgumentException(
                    "a rule is: connect or listen, hosts, ports, transports, and %s if need be"
                            .formatted(NO_FALL_BACK));
        }
        if (fields.length == 5 && !fields[4].equals(NO_FALL_BACK)) {
            throw new IllegalArgumentException(
                    "\"%s\" after the transports; %s may stand there"
                            .formatted(fields[4], NO_FALL_BACK));
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
                    "\"%s\" is no host: a name, an address, a network as 10.77.0.0/16, or *"
                            .formatted(text));
        }
        return peer -> text.equalsIgnoreCase(peer.getHostString()); // nothing is looked up
    }

    private static Predicate<InetSocketAddress> network(String text) {
        var slash = text.indexOf('/');
        var network = literal(text.substring(0, slash), text).getAddress();
        var most = network.length * Byte.SIZE;
        var bits =
                number(text.substring(slash + 1), 0, most)
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        "\"%s\": the prefix of such a network has 0 to %d bits"
                                                .formatted(text, most)));
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
            throw new IllegalArgumentException("\"%s\" is no address".formatted(text), e);
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
                                "\"%s\" is no port: one as 8003, a range as 8003-8008, up to %d, or *"
                                        .formatted(text, LAST_PORT)));
    }

    private static Optional<Integer> number(String digits, int least, int most) {
        try {
            var number = Integer.parseInt(digits);
            return least <= number && number <= most ? Optional.of(number) : Optional.empty();
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }
}
