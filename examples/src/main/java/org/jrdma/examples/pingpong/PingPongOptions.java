package org.jrdma.examples.pingpong;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Mtu;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;

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
        SRQ("srq-pingpong", "pdismqrnlegocf", 4096, "They are those of the C program, but for -f.");

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
    }

    /** Refuses what the program does not have, and shows what it has. */
    static PingPongOptions parse(Program program, String... arguments) {
        var options = new PingPongOptions(program);
        var rest = new ArrayDeque<>(List.of(arguments));
        while (!rest.isEmpty()) {
            options.take(rest);
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
        queuePair.sends(1).receives(receives).port(devicePort);
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
          -n, --iters COUNT       how many messages each side sends (1000)
          -l, --sl LEVEL          the service level (0)
          -e, --events            wait for completions instead of polling
          -g, --gid-idx INDEX     the row of the GID table to send from (on RoCE the best there is)
          -o, --odp               do not lock the memory, but bring it in on demand
          -c, --chk               check what arrives at the server
          -f, --fabric FABRIC     "system", or "software" (that where the machine has no RDMA device)
        """
                .formatted(program.defaultSize)
                .lines()
                .filter(line -> has(line.charAt(3)))
                .forEach(line -> options.append(line).append('\n'));
        return """
        usage: %s [options]          waits for the other side
               %s [options] HOST     connects to HOST and begins

        %s
        %s\
        """
                .formatted(name, name, options, program.remark);
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
            case "-r", "--rx-depth" -> receives = number(argument, rest, 1, 1 << 20);
            case "-n", "--iters" -> iterations = number(argument, rest, 1, Integer.MAX_VALUE);
            case "-l", "--sl" -> serviceLevel = number(argument, rest, 0, 15);
            case "-e", "--events" -> events = true;
            case "-g", "--gid-idx" -> gidIndex = number(argument, rest, 0, 65_535);
            case "-o", "--odp" -> {
                checkHas('o', argument);
                onDemand = true;
            }
            case "-c", "--chk" -> check = true;
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
            var isFlag = "eoc".indexOf(argument.charAt(1)) >= 0;
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
