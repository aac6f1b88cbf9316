package org.jrdma.examples.pingpong;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.Mtu;

/** The command line of a ping-pong, in the words of the C program of the same name. */
final class PingPongOptions {

    /** Which of the options a program has. */
    enum Program {
        /** Over a reliable connection. */
        RC(
                "rc-pingpong",
                "pdismrnlegocf",
                4096,
                "The C program has no -f. Of its options, -O, -P, -t, -j, -N and -U are missing."),
        /** Over an unreliable connection. */
        UC("uc-pingpong", "pdismrnlegcf", 4096, "They are those of the C program, but for -f."),
        /** With datagrams. */
        UD("ud-pingpong", "pdisrnlegcf", 1024, "They are those of the C program, but for -f."),
        /** Over reliable connections that share their receives. */
        SRQ("srq-pingpong", "pdismqrnlegocf", 4096, "They are those of the C program, but for -f."),
        /** Over extended reliable connections, to receive queues by their numbers. */
        XSRQ("xsrq-pingpong", "pdismClegoNf", 4096, "They are those of the C program, but for -f.");

        private final String commandName;
        private final String letters;
        private final int defaultSize;
        private final String remark;

        Program(String commandName, String letters, int defaultSize, String remark) {
            this.commandName = commandName;
            this.letters = letters;
            this.defaultSize = defaultSize;
            this.remark = remark;
        }
    }

    /** There are less of them; as in the C program. */
    static final int MAX_QUEUE_PAIRS = 256;

    private static final int MAX_CLIENTS = 255;

    // Options that only one program has by their letters.
    private static final char CLIENTS = 'C';
    private static final char TESTS = 'N';

    private final Program program;

    boolean help;
    int port = 18515;
    String device = "";
    int devicePort = 1;
    int size;
    Mtu mtu = Mtu.BYTES_1024;
    int queuePairs = 1;
    int receives = 500;
    int iterations = 1000;
    int clients = 1;
    int serviceLevel;
    boolean events;
    int gidIndex = -1;
    boolean onDemand;
    boolean check;
    String fabric = "";
    String host = "";

    private PingPongOptions(Program program) {
        this.program = program;
        this.size = program.defaultSize;
        if (has('q')) {
            queuePairs = 16;
        }
        if (program == Program.XSRQ) {
            iterations = 5;
        }
    }

    /** Refuses what the program does not have, and shows what it has. */
    static PingPongOptions parse(Program program, String... arguments) {
        var options = new PingPongOptions(program);
        var rest = new ArrayDeque<>(List.of(arguments));
        while (!rest.isEmpty()) {
            options.take(rest);
        }
        if (!options.isServer()) {
            options.clients = 1; // this one
        }
        if (options.queuePairs > options.receives) {
            throw options.refusal(
                    "%d receives are too few: each of %d queue pairs needs one"
                            .formatted(options.receives, options.queuePairs));
        }
        return options;
    }

    /** Whether this side waits for the other, and lets it begin. */
    boolean isServer() {
        return host.isEmpty();
    }

    /** Whether what is lost is sent again. */
    boolean isReliable() {
        return program == Program.RC || program == Program.SRQ;
    }

    /** The device that was asked for, or the first there is. */
    Device openDevice() throws IOException {
        var verbs = Fabric.choose(fabric);
        return device.isEmpty() ? verbs.openFirst() : verbs.open(device);
    }

    /** A queue for the completions of all receives and of one send of each queue pair. */
    CompletionQueueOptions completionQueue() {
        var completions = CompletionQueueOptions.capacity(receives + queuePairs);
        return events ? completions.waitable() : completions;
    }

    /** A queue pair with the room, the port and the address that were asked for. */
    <Q extends QueuePair> QueuePairOptions<Q> applyTo(QueuePairOptions<Q> queuePair) {
        return placed(queuePair.sends(1).receives(receives));
    }

    /** A queue pair with the port and the address that were asked for. */
    <Q extends QueuePair> QueuePairOptions<Q> placed(QueuePairOptions<Q> queuePair) {
        queuePair.port(devicePort);
        return gidIndex < 0 ? queuePair : queuePair.gidIndex(gidIndex);
    }

    /** How the program is called. */
    String usage() {
        var name = program.commandName;
        var options = new StringBuilder();
        """
          -p, --port PORT         the TCP port (18515)
          -d, --ib-dev DEVICE     the RDMA device (the first there is)
          -i, --ib-port PORT      its port (1)
          -s, --size BYTES        how long a message is (%d)
          -m, --mtu BYTES         how much of it goes into a packet (1024)
          -q, --num-qp COUNT      how many queue pairs (16)
          -r, --rx-depth COUNT    how many receives to post ahead (500)
          -c, --clients COUNT     how many clients a server waits for (1)
          -n, --iters COUNT       how many messages each side sends (1000)
          -n, --num_tests COUNT   how many messages go each way with each client (5)
          -l, --sl LEVEL          the service level (0)
          -e, --events            wait for completions instead of polling
          -g, --gid-idx INDEX     the row of the GID table to send from (on RoCE the best there is)
          -o, --odp               do not lock the memory, but bring it in on demand
          -c, --chk               check what arrives at the server
          -f, --fabric FABRIC     "system", or "software" (that where the machine has no RDMA device)
        """
                .formatted(program.defaultSize)
                .lines()
                .filter(line -> has(letter(line)))
                .forEach(line -> options.append(line).append('\n'));
        return """
        usage: %s [options]          waits for the other side
               %s [options] HOST     connects to HOST and begins

        %s
        %s\
        """
                .formatted(name, name, options, program.remark);
    }

    /** By which programs have an option, of its line above: -c and -n are two, by their names. */
    private static char letter(String line) {
        if (line.contains("--clients")) {
            return CLIENTS;
        }
        return line.contains("--num_tests") ? TESTS : line.charAt(3);
    }

    private boolean has(char letter) {
        return program.letters.indexOf(letter) >= 0;
    }

    private void checkHas(char letter, String argument) {
        if (!has(letter)) {
            throw notUnderstood(argument);
        }
    }

    private IllegalArgumentException notUnderstood(String argument) {
        return refusal("\"%s\" is not understood".formatted(argument));
    }

    private void take(ArrayDeque<String> rest) {
        splitFirst(rest);
        var argument = rest.pop();
        switch (argument) {
            case "--help" -> help = true;
            case "-p", "--port" -> port = number(argument, rest, 0, 65_535);
            case "-d", "--ib-dev" -> device = value(argument, rest);
            case "-i", "--ib-port" -> devicePort = number(argument, rest, 1, 255);
            case "-s", "--size" -> size = number(argument, rest, 1, Integer.MAX_VALUE);
            case "-m", "--mtu" -> {
                checkHas('m', argument);
                mtu = Mtu.ofBytes(number(argument, rest, 256, 4096));
            }
            case "-q", "--num-qp" -> {
                checkHas('q', argument);
                queuePairs = number(argument, rest, 1, MAX_QUEUE_PAIRS - 1);
            }
            case "-r", "--rx-depth" -> {
                checkHas('r', argument);
                receives = number(argument, rest, 1, 1 << 20);
            }
            case "-n" -> iterations = number(argument, rest, 1, Integer.MAX_VALUE);
            case "--iters" -> {
                checkHas('n', argument);
                iterations = number(argument, rest, 1, Integer.MAX_VALUE);
            }
            case "--num_tests" -> {
                checkHas(TESTS, argument);
                iterations = number(argument, rest, 1, Integer.MAX_VALUE);
            }
            case "--clients" -> {
                checkHas(CLIENTS, argument);
                clients = number(argument, rest, 1, MAX_CLIENTS);
            }
            case "-l", "--sl" -> serviceLevel = number(argument, rest, 0, 15);
            case "-e", "--events" -> events = true;
            case "-g", "--gid-idx" -> gidIndex = number(argument, rest, 0, 65_535);
            case "-o", "--odp" -> {
                checkHas('o', argument);
                onDemand = true;
            }
            case "-c" -> {
                if (has(CLIENTS)) {
                    clients = number(argument, rest, 1, MAX_CLIENTS);
                } else {
                    check = true;
                }
            }
            case "--chk" -> {
                checkHas('c', argument);
                check = true;
            }
            case "-f", "--fabric" -> fabric = value(argument, rest);
            default -> {
                if (argument.startsWith("-") || !host.isEmpty()) {
                    throw notUnderstood(argument);
                }
                host = argument;
            }
        }
    }

    /** Makes {@code --gid-idx=1}, {@code -g1} and {@code -eg} two arguments. */
    private void splitFirst(ArrayDeque<String> rest) {
        var argument = rest.getFirst();
        var equals = argument.indexOf('=');
        if (argument.startsWith("--") && equals > 0) {
            rest.pop();
            rest.push(argument.substring(equals + 1));
            rest.push(argument.substring(0, equals));
        } else if (argument.matches("-[^-].+")) {
            var isFlag = (has(CLIENTS) ? "eo" : "eoc").indexOf(argument.charAt(1)) >= 0;
            rest.pop();
            rest.push((isFlag ? "-" : "") + argument.substring(2));
            rest.push(argument.substring(0, 2));
        }
    }

    private String value(String option, ArrayDeque<String> rest) {
        if (rest.isEmpty()) {
            throw refusal(option + " needs a value");
        }
        return rest.pop();
    }

    private int number(String option, ArrayDeque<String> rest, int least, int most) {
        var value = value(option, rest);
        try {
            var number = Integer.decode(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // refused below
        }
        throw refusal(
                "%s takes a number from %d to %d, not \"%s\""
                        .formatted(option, least, most, value));
    }

    private IllegalArgumentException refusal(String reason) {
        return new IllegalArgumentException(
                "%s: %s%n%n%s".formatted(program.commandName, reason, usage()));
    }
}
