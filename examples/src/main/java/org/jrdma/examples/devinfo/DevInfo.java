package org.jrdma.examples.devinfo;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.DeviceDescription;

/**
 * Tells of this machine's RDMA devices what {@code ibv_devinfo} of rdma-core tells, line by line
 * the same, so that whatever reads the one can read the other.
 */
public final class DevInfo {

    private static final String USAGE =
            """
            usage: devinfo [options]

              -d, --ib-dev DEVICE     the RDMA device (all there are)
              -i, --ib-port PORT      its port (all it has)
              -l, --list              only the names of the devices
              -v, --verbose           all that a device tells of itself
              -f, --fabric FABRIC     "system", or "software" (that where the machine has no RDMA device)

            They are those of the C program, but for -f.\
            """;

    private boolean help;
    private boolean list;
    private boolean verbose;
    private String device = "";
    private int port;
    private String fabric = "";

    static void main(String... arguments) {
        try {
            var program = new DevInfo(arguments);
            if (program.help) {
                IO.println(USAGE);
            } else {
                program.run();
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private void run() throws IOException {
        var verbs = Fabric.choose(fabric);
        var names = verbs.devices().stream().map(DeviceDescription::name).toList();
        if (list) {
            IO.println("%d HCA%s found:".formatted(names.size(), names.size() == 1 ? "" : "s"));
            names.forEach(name -> IO.println("\t" + name));
            IO.println();
        } else if (!device.isEmpty()) {
            describe(verbs, device);
        } else if (names.isEmpty()) {
            verbs.openFirst().close(); // which says what to do
        } else {
            for (var name : names) {
                describe(verbs, name);
            }
        }
    }

    private void describe(Verbs verbs, String name) throws IOException {
        try (var opened = verbs.open(name)) {
            IO.print(new Report(opened, verbose).of(port));
        }
    }

    private DevInfo(String... arguments) {
        var rest = new ArrayDeque<>(List.of(arguments));
        while (!rest.isEmpty()) {
            splitFirst(rest);
            var argument = rest.pop();
            switch (argument) {
                case "--help" -> help = true;
                case "-d", "--ib-dev" -> device = value(argument, rest);
                case "-i", "--ib-port" -> port = port(value(argument, rest));
                case "-l", "--list" -> list = true;
                case "-v", "--verbose" -> verbose = true;
                case "-f", "--fabric" -> fabric = value(argument, rest);
                default -> throw refusal("\"%s\" is not understood".formatted(argument));
            }
        }
    }

    /** Makes {@code --ib-dev=rxe0}, {@code -drxe0} and {@code -vl} two arguments. */
    private static void splitFirst(ArrayDeque<String> rest) {
        var argument = rest.getFirst();
        var equals = argument.indexOf('=');
        if (argument.startsWith("--") && equals > 0) {
            rest.pop();
            rest.push(argument.substring(equals + 1));
            rest.push(argument.substring(0, equals));
        } else if (argument.matches("-[^-].+")) {
            var isFlag = "lv".indexOf(argument.charAt(1)) >= 0;
            rest.pop();
            rest.push((isFlag ? "-" : "") + argument.substring(2));
            rest.push(argument.substring(0, 2));
        }
    }

    private static String value(String option, ArrayDeque<String> rest) {
        if (rest.isEmpty()) {
            throw refusal(option + " needs a value");
        }
        return rest.pop();
    }

    private static int port(String value) {
        try {
            var number = Integer.decode(value);
            if (number > 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // refused below
        }
        throw refusal("ports count from 1, so there is no \"%s\"".formatted(value));
    }

    private static IllegalArgumentException refusal(String reason) {
        return new IllegalArgumentException("devinfo: %s%n%n%s".formatted(reason, USAGE));
    }
}
