package org.jrdma.volume.net;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A node in a process of its own, which a test stops or kills. */
final class NodeProcess implements AutoCloseable {

    private final Process process;
    private final List<String> addresses;

    private NodeProcess(Process process, List<String> addresses) {
        this.process = process;
        this.addresses = addresses;
    }

    /**
     * Starts a node with a transport, on the software fabrics that this JVM uses.
     *
     * @param properties options of the JVM that set further system properties
     */
    static NodeProcess start(TransportKind transport, String... properties) throws IOException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.add("--enable-native-access=ALL-UNNAMED");
        for (var property : SoftwareFabrics.PROPERTIES) {
            command.add("-D%s=%s".formatted(property, System.getProperty(property)));
        }
        command.addAll(List.of(properties));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(NodeProcess.class.getName(), transport.name()));
        var process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        var output =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        var line = output.readLine();
        if (line == null) {
            process.destroyForcibly();
            throw new IOException("The process of the node has ended without an address");
        }
        return new NodeProcess(process, List.of(line.split(",")));
    }

    List<String> addresses() {
        return addresses;
    }

    /** Sends a signal, such as STOP. */
    void signal(String name) throws IOException, InterruptedException {
        var kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
        if (kill.waitFor() != 0) {
            throw new IOException("kill failed");
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The system property that selects {@link NodeOptions#datagramReads}. */
    static final String DATAGRAMS = "jrdma.test.datagrams";

    /** Argument: the transport. The process ends with its standard input. */
    public static void main(String... arguments) throws Exception {
        var options =
                NodeOptions.of(TransportKind.valueOf(arguments[0]))
                        .datagramReads(Boolean.getBoolean(DATAGRAMS))
                        .socketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        try (var listener = NodeListener.open(options, new TestRequestHandler())) {
            System.out.println(String.join(",", listener.addresses()));
            System.out.flush();
            var _ = System.in.read();
        }
    }
}
