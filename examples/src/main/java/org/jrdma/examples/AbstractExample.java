package org.jrdma.examples;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.ConfiguredFabric;
import org.jrdma.ffi.KnownProperties;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.sisci.Sisci;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * A command-line program that uses the machine's RDMA or SISCI library, or the software fabric on a
 * machine without a device.
 *
 * <p>This class contains the code that the examples share and that is not specific to RDMA: exit
 * codes, the selection of the library, a TCP connection to the other side, and waiting for memory
 * to change.
 */
public abstract class AbstractExample implements Callable<Integer> {

    /** No timeout. */
    public static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    /** The maximum time that one side of an example waits for the other side. */
    public static final Duration TIMEOUT = Duration.ofMinutes(2);

    private static final int MAX_PORT = 65_535;
    private static final int SPINS = 1_000;
    private static final long PAUSE_NANOS = 50_000;

    /** The options that select an RDMA device, its port, and its address. */
    public static final class DeviceOptions {

        @Option(
                names = {"-d", "--ib-dev"},
                paramLabel = "DEVICE",
                description = "RDMA device (default: the first)")
        public String name = "";

        @Option(
                names = {"-i", "--ib-port"},
                paramLabel = "PORT",
                description = "port of the device (default: ${DEFAULT-VALUE})")
        public int port = 1;

        @Option(
                names = {"-g", "--gid-idx"},
                paramLabel = "INDEX",
                description = "index of the GID to send from (default: on RoCE the best)")
        public Integer gidIndex;

        /** Opens the device. */
        public Device open(Verbs verbs) throws IOException {
            return name.isEmpty() ? verbs.openFirst() : verbs.open(name);
        }

        /** Sets the port and the address in the options of a queue pair. */
        public <Q extends QueuePair> QueuePairOptions<Q> applyTo(QueuePairOptions<Q> options) {
            var onPort = options.port(port);
            return gidIndex == null ? onPort : onPort.gidIndex(gidIndex);
        }
    }

    /** A condition whose check can fail. */
    @FunctionalInterface
    public interface Condition {
        /** Returns true if the condition holds. */
        boolean holds() throws IOException;
    }

    /** Parses the name of a fabric. */
    private static final class FabricConverter implements ITypeConverter<ConfiguredFabric> {
        @Override
        public ConfiguredFabric convert(String text) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "system" -> ConfiguredFabric.SYSTEM;
                case "software" -> ConfiguredFabric.SOFTWARE;
                default ->
                        throw new TypeConversionException(
                                "\"%s\" is neither system nor software".formatted(text));
            };
        }
    }

    @Option(
            names = {"-f", "--fabric"},
            paramLabel = "FABRIC",
            converter = FabricConverter.class,
            description = "system or software (default: software if the machine has no device)")
    private ConfiguredFabric fabric;

    @Option(names = "--help", usageHelp = true, description = "show this text")
    boolean help;

    private Boolean usesSoftware;

    /** Runs the program, after the command line was parsed. */
    protected abstract void run() throws IOException, InterruptedException;

    @Override
    public final Integer call() throws IOException, InterruptedException {
        KnownProperties.rejectUnknown();
        if (fabric == null && System.getProperty(ConfiguredFabric.PROPERTY) != null) {
            fabric = ConfiguredFabric.get();
        }
        run();
        return CommandLine.ExitCode.OK;
    }

    /**
     * Parses the command line, runs the program, and exits. The exit code is 0 after a success, 1
     * after a failure, and 2 if the command line is invalid.
     */
    protected final void execute(String... arguments) {
        Locale.setDefault(Locale.ROOT); // Numbers are printed in the same way in every locale.
        System.exit(commandLine().execute(arguments));
    }

    /** Returns the command line of this program. */
    protected CommandLine commandLine() {
        var commandLine =
                new CommandLine(this)
                        .registerConverter(int.class, AbstractExample::wholeNumber)
                        .registerConverter(Integer.class, AbstractExample::wholeNumber)
                        .setParameterExceptionHandler((e, _) -> reportUsageError(e))
                        .setExecutionExceptionHandler((e, _, _) -> {
                            // An option or a property is invalid.
                            if (e instanceof IllegalArgumentException) {
                                return reportUsageError(e);
                            }
                            if (e instanceof IOException) {
                                System.err.println(e.getMessage()); // The message includes the fix.
                                return CommandLine.ExitCode.SOFTWARE;
                            }
                            throw e;
                        });
        commandLine.getCommandSpec().usageMessage().synopsisHeading("usage: ");
        return commandLine;
    }

    private static int reportUsageError(Exception e) {
        var message = e.getMessage();
        System.err.println(message + (message.matches(".*[.?]") ? "" : ".") + " See --help.");
        return CommandLine.ExitCode.USAGE;
    }

    private static int wholeNumber(String text) {
        try {
            var number = Integer.parseInt(text);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException _) {
            // The exception below reports the failure.
        }
        throw new TypeConversionException(
                "\"%s\" is not a whole number from 0 to %d".formatted(text, Integer.MAX_VALUE));
    }

    /** Returns the machine's libibverbs or that of the software fabric. */
    protected final Verbs verbs() throws IOException {
        return choosesSoftware(AbstractExample::hasRdmaDevice, "RDMA device")
                ? Verbs.software()
                : Verbs.system();
    }

    /**
     * Returns the machine's librdmacm or that of the software fabric. Its devices are those of
     * {@link #verbs()}.
     */
    protected final ConnectionManager connectionManager() throws IOException {
        return choosesSoftware(AbstractExample::hasRdmaDevice, "RDMA device")
                ? ConnectionManager.software()
                : ConnectionManager.system();
    }

    /** Returns the machine's libsisci or that of the software fabric. */
    protected final Sisci sisci() throws IOException {
        return choosesSoftware(AbstractExample::hasSisci, "libsisci")
                ? Sisci.software()
                : Sisci.system();
    }

    /**
     * Returns true if the program uses the software fabric. The first call decides this, and prints
     * a line if it selects the software fabric.
     */
    private boolean choosesSoftware(Condition hardware, String what) throws IOException {
        if (usesSoftware == null) {
            var reason = fabric == null ? "because this machine has no " + what : "as requested";
            usesSoftware = fabric == null ? !hardware.holds() : fabric == ConfiguredFabric.SOFTWARE;
            if (usesSoftware) {
                IO.println("This runs on the software fabric, " + reason + ".");
            }
        }
        return usesSoftware;
    }

    private static boolean hasRdmaDevice() throws IOException {
        try {
            return !Verbs.system().devices().isEmpty();
        } catch (LibraryNotFoundException e) {
            if (Files.exists(Path.of("/sys/class/infiniband"))) {
                throw e; // The kernel has RDMA devices, so the missing library is the problem.
            }
            return false;
        }
    }

    private static boolean hasSisci() throws IOException {
        try {
            Sisci.system();
            return true;
        } catch (LibraryNotFoundException e) {
            if (Files.exists(Path.of("/opt/DIS"))) {
                throw e; // Dolphin's software is installed, so its library is the problem.
            }
            return false;
        }
    }

    /** Listens on a TCP port. Port 0 selects any free port. */
    public static ServerSocket listen(int port) throws IOException {
        checkPort(port);
        try {
            return new ServerSocket(port);
        } catch (BindException e) {
            throw new IOException(
                    "Cannot listen on port %d: %s. Choose another port with -p."
                            .formatted(port, e.getMessage()),
                    e);
        }
    }

    /** Connects to a TCP port. */
    public static Socket connect(String host, int port) throws IOException {
        checkPort(port);
        var address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new IOException("There is no host named " + host + ".");
        }
        var socket = new Socket();
        try {
            socket.connect(address, (int) TIMEOUT.toMillis());
            return socket;
        } catch (IOException e) {
            socket.close();
            throw new IOException(
                    "No program listens on port %d of %s: %s. Start the side without a host first."
                            .formatted(port, host, e.getMessage()),
                    e);
        }
    }

    private static void checkPort(int port) {
        if (port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException(
                    "%d is not a TCP port from 0 to %d. Choose another port with -p."
                            .formatted(port, MAX_PORT));
        }
    }

    /** A TCP connection to the other side, to exchange addresses and to synchronize both sides. */
    public record Peer(Socket socket, BufferedReader lines) implements AutoCloseable {

        /** Connects to a host. If the host is empty, waits until the other side connects. */
        public static Peer at(String host, int port) throws IOException {
            if (!host.isEmpty()) {
                return of(AbstractExample.connect(host, port));
            }
            try (var listener = listen(port)) {
                IO.println("waiting for the other side on port " + listener.getLocalPort());
                return of(listener.accept());
            }
        }

        private static Peer of(Socket socket) throws IOException {
            socket.setSoTimeout((int) TIMEOUT.toMillis());
            var lines = new InputStreamReader(socket.getInputStream(), US_ASCII);
            return new Peer(socket, new BufferedReader(lines));
        }

        /** Sends a line, and returns the line that the other side sends. */
        public String exchange(Object own) throws IOException {
            try {
                socket.getOutputStream().write((own + "\n").getBytes(US_ASCII));
                var received = lines.readLine();
                if (received == null) {
                    throw new IOException("The other side has ended. Its output shows the reason.");
                }
                return received;
            } catch (SocketTimeoutException e) {
                throw new IOException(
                        "The other side does not respond. Its output shows the reason.", e);
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /** Returns the time of day at which a wait that starts now will time out, for messages. */
    public static LocalTime deadline() {
        var now = LocalTime.now(ZoneId.systemDefault());
        return now.plus(TIMEOUT).truncatedTo(ChronoUnit.SECONDS);
    }

    /**
     * Polls a condition until it holds, typically in memory that the other side writes. Polling is
     * necessary because a write sends no notification.
     */
    public static void spinUntil(Condition condition) throws IOException {
        var end = System.nanoTime() + TIMEOUT.toNanos();
        for (var spins = 0; !condition.holds(); spins++) {
            if (System.nanoTime() - end > 0) {
                throw new IOException(
                        "The other side does not respond. Its output shows the reason.");
            }
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }
}
