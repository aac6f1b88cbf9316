package org.jrdma.volume.history;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.net.NodePolicy;
import org.jrdma.volume.net.NodeTransport;

/** A server of a volume in a process of its own, which a test can kill. */
final class ServerProcess {

    static final Duration LEASE = Duration.ofSeconds(1);
    static final Duration SESSION_TIMEOUT = Duration.ofSeconds(1);

    private final Path drive;
    private final int port;
    private final List<Integer> ports;
    private final Path log;
    private Process process;

    ServerProcess(Path folder, Path drive, int port, List<Integer> ports) throws IOException {
        this.drive = drive;
        this.port = port;
        this.ports = ports;
        this.log = folder.resolve("server-%d.log".formatted(port));
        start();
    }

    static List<String> address(int port) {
        return List.of("sockets:127.0.0.1:" + port);
    }

    static NodePolicy policy() {
        return NodePolicy.of(NodeTransport.SOCKETS);
    }

    void start() throws IOException {
        var command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "-Dorg.slf4j.simpleLogger.showDateTime=true",
                                "-cp",
                                System.getProperty("java.class.path"),
                                ServerProcess.class.getName(),
                                drive.toString(),
                                Integer.toString(port)));
        ports.forEach(other -> command.add(Integer.toString(other)));
        process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                        .start();
    }

    void kill() throws InterruptedException {
        process.destroyForcibly();
        var _ = process.waitFor();
    }

    void signal(String name) throws IOException, InterruptedException {
        var _ =
                new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .start()
                        .waitFor();
    }

    /** Returns the epoch that the server has started last; 0 if it was never the coordinator. */
    long lastEpoch() throws IOException {
        var last = 0L;
        for (var line : Files.readAllLines(log)) {
            var matcher =
                    java.util.regex.Pattern.compile("in epoch (\\d+): \\d+ files").matcher(line);
            if (matcher.find()) {
                last = Long.parseLong(matcher.group(1));
            }
        }
        return last;
    }

    String log() throws IOException {
        return Files.readString(log);
    }

    /** Runs a server: the file of the drive, its port, and the ports of all servers. */
    public static void main(String... arguments) throws Exception {
        var port = Integer.parseInt(arguments[1]);
        var others = new ArrayList<List<String>>();
        for (var i = 2; i < arguments.length; i++) {
            var other = Integer.parseInt(arguments[i]);
            if (other != port) {
                others.add(address(other));
            }
        }
        var drive = FileDrive.open(Path.of(arguments[0]));
        var _ =
                VolumeServer.start(
                        drive,
                        ServerOptions.named("server-" + port)
                                .others(others)
                                .policy(
                                        policy().socketAddress(
                                                        new InetSocketAddress(
                                                                InetAddress.getLoopbackAddress(),
                                                                port)))
                                .lease(LEASE)
                                .sessionTimeout(SESSION_TIMEOUT));
        Thread.currentThread().join();
    }
}
