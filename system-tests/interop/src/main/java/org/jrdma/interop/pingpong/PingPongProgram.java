package org.jrdma.interop.pingpong;

import java.io.IOException;
import org.jrdma.interop.AbstractRdmaCoreToolProgram;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Mtu;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options that the ping-pongs of rdma-core have in common. */
abstract class PingPongProgram extends AbstractRdmaCoreToolProgram {

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            description = "the TCP port (${DEFAULT-VALUE})")
    int port = 18515;

    @Mixin DeviceOptions deviceOptions;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            description = "message size in bytes (${DEFAULT-VALUE})")
    int size = 4096;

    @Option(
            names = {"-m", "--mtu"},
            paramLabel = "BYTES",
            defaultValue = "1024",
            description = "path MTU in bytes (${DEFAULT-VALUE})")
    Mtu mtu;

    @Option(
            names = {"-l", "--sl"},
            paramLabel = "LEVEL",
            description = "the service level (${DEFAULT-VALUE})")
    int serviceLevel;

    @Option(
            names = {"-e", "--events"},
            description = "wait for completions instead of polling")
    boolean events;

    @Option(
            names = {"-o", "--odp"},
            description = "register memory for on-demand paging instead of locking it")
    boolean onDemand;

    @Parameters(
            arity = "0..1",
            paramLabel = "HOST",
            description = "the server; without it, this side is the server")
    String host = "";

    /** Removes options that a C program does not have. */
    static CommandLine without(CommandLine commandLine, String... names) {
        var spec = commandLine.getCommandSpec();
        for (var name : names) {
            spec.remove(spec.findOption(name));
        }
        return commandLine;
    }

    @Override
    protected CommandLine commandLine() {
        return super.commandLine()
                .registerConverter(Mtu.class, bytes -> Mtu.ofBytes(Integer.decode(bytes)));
    }

    /** Throws a usage error for option values that the C programs reject. */
    void checkOptions() {
        checkRange("-p", port, 0, 65_535);
        checkRange("-i", deviceOptions.port, 1, 255);
        checkRange("-g", deviceOptions.gidIndex == null ? 0 : deviceOptions.gidIndex, 0, 65_535);
        checkRange("-s", size, 1, Integer.MAX_VALUE);
        checkRange("-l", serviceLevel, 0, 15);
    }

    @Override
    protected final void run() throws IOException {
        checkOptions();
        try (var device = deviceOptions.open(verbs())) {
            play(device);
        }
    }

    /** Runs the ping-pong on a device. */
    abstract void play(Device device) throws IOException;

    /** Returns true if this side is the server. The client connects to it and sends first. */
    final boolean isServer() {
        return host.isEmpty();
    }

    final Access[] access() {
        return onDemand
                ? new Access[] {Access.LOCAL_WRITE, Access.ON_DEMAND}
                : new Access[] {Access.LOCAL_WRITE};
    }

    /**
     * Waits for completions by polling or, with {@code -e}, by waiting for an event.
     *
     * @param hint a possible cause, with which the message ends if no completion arrives before the
     *     timeout
     */
    final void await(CompletionCursor cursor, String hint) throws IOException {
        var deadline = System.nanoTime() + EndpointExchange.TIMEOUT.toNanos();
        do {
            if ((events ? cursor.await(EndpointExchange.TIMEOUT) : cursor.poll()) > 0) {
                return;
            }
        } while (System.nanoTime() - deadline < 0);
        throw new IOException(
                "No message has arrived for %d s. Has the other side ended%s?"
                        .formatted(EndpointExchange.TIMEOUT.toSeconds(), hint));
    }

    /** Fails if the current completion is an error. */
    static void checkSuccess(CompletionCursor cursor, boolean isSend) throws IOException {
        if (!cursor.isSuccess()) {
            throw new IOException(
                    "A %s failed: %s, that is, %s."
                            .formatted(
                                    isSend ? "send" : "receive",
                                    cursor.status(),
                                    cursor.status().meaning()));
        }
    }
}
