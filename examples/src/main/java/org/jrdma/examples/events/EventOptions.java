package org.jrdma.examples.events;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jrdma.verbs.cm.model.PortSpace;

/** What the programs beside it can be told, in the letters of the C programs. */
final class EventOptions {

    private final String usage;
    private String server = "";
    private String bind = "";
    private String fabric = "";
    private int port;
    private PortSpace portSpace;
    private int connections = 1;
    private int messages = 10;
    private int bytes = 100;
    private OptionalInt typeOfService = OptionalInt.empty();
    private OptionalInt acknowledgeTimeout = OptionalInt.empty();
    private final Set<String> flags = new HashSet<>();
    private String group = "";

    /**
     * @param flags the letters of the options without a value
     * @param letters those of the options that have one
     */
    EventOptions(
            String usage,
            String flags,
            String letters,
            int port,
            PortSpace portSpace,
            String... arguments) {
        this.usage = usage;
        this.port = port;
        this.portSpace = portSpace;
        for (var rest = List.of(arguments).iterator(); rest.hasNext(); ) {
            var option = rest.next();
            if (!option.matches("-[a-zA-Z]")) {
                throw refused(option + " is too much.");
            }
            if (flags.indexOf(option.charAt(1)) >= 0) {
                this.flags.add(option);
            } else if (letters.indexOf(option.charAt(1)) < 0) {
                throw refused(option + " is too much.");
            } else if (rest.hasNext()) {
                take(option, rest.next());
            } else {
                throw refused(option + " misses its value.");
            }
        }
        if (bytes == 0) {
            messages = 0;
        }
    }

    private void take(String option, String value) {
        switch (option) {
            case "-s" -> server = value;
            case "-b" -> bind = value;
            case "-m" -> group = value;
            case "-f" -> fabric = value;
            case "-c" -> connections = number(option, value, 1, 10_000);
            case "-C" -> messages = number(option, value, 0, 10_000);
            case "-S" -> bytes = number(option, value, 0, 1 << 30);
            case "-t" -> typeOfService = OptionalInt.of(number(option, value, 0, 255));
            case "-a" -> acknowledgeTimeout = OptionalInt.of(number(option, value, 0, 31));
            case "-P" -> portSpace = portSpaceNamed(value);
            case "-p" -> portOrPortSpace(option, value);
            default -> throw refused(option + " is too much.");
        }
    }

    /** The C programs differ in this letter. */
    private void portOrPortSpace(String option, String value) {
        if (!portSpace.isOfDatagrams()) {
            port = number(option, value, 0, 65_535);
            return;
        }
        portSpace =
                switch (number(option, value, 0, 0xffff)) {
                    case 0x0111 -> PortSpace.UDP;
                    case 0x0002 -> PortSpace.IPOIB;
                    default -> throw refused("There is no port space " + value + " for it.");
                };
    }

    private PortSpace portSpaceNamed(String name) {
        for (var space : PortSpace.values()) {
            if (space.name().equalsIgnoreCase(name)
                    && space.isOfDatagrams() == portSpace.isOfDatagrams()) {
                return space;
            }
        }
        throw refused("There is no port space " + name + " for it.");
    }

    private int number(String option, String value, int least, int most) {
        try {
            var number = Integer.decode(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException _) {
            // as one that is too large
        }
        throw refused("%s: %s is no number from %d to %d.".formatted(option, value, least, most));
    }

    private IllegalArgumentException refused(String why) {
        return new IllegalArgumentException(why + "\n\n" + usage);
    }

    boolean isClient() {
        return !server.isEmpty();
    }

    /** Where the server is. */
    InetSocketAddress serverAddress() {
        return address(server, port);
    }

    boolean isBound() {
        return !bind.isEmpty();
    }

    /** Where the server listens, or the client comes from. */
    InetSocketAddress localAddress() {
        return address(bind.isEmpty() ? "0.0.0.0" : bind, isClient() ? 0 : port);
    }

    private InetSocketAddress address(String host, int port) {
        var address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw refused("There is no host named " + host + ".");
        }
        return address;
    }

    PortSpace portSpace() {
        return portSpace;
    }

    String fabric() {
        return fabric;
    }

    int connections() {
        return connections;
    }

    int messages() {
        return messages;
    }

    int bytes() {
        return bytes;
    }

    OptionalInt typeOfService() {
        return typeOfService;
    }

    OptionalInt acknowledgeTimeout() {
        return acknowledgeTimeout;
    }

    /** Whether there is an option without a value. */
    boolean has(String flag) {
        return flags.contains(flag);
    }

    /** The multicast group. */
    InetAddress group() {
        if (group.isEmpty()) {
            throw refused("-m is missing.");
        }
        return address(group, 0).getAddress();
    }
}
