package org.jrdma.spark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jrdma.processes.FreePorts;
import org.jrdma.processes.Program;

/** A standalone Spark cluster on this machine: a master and two workers with a core each. */
final class StandaloneCluster implements AutoCloseable {

    private static final String HOST = "localhost";
    private static final int WORKERS = 2;

    private final String url;
    private final List<Program> programs = new ArrayList<>();

    private StandaloneCluster(String url) {
        this.url = url;
    }

    static StandaloneCluster start() throws IOException, InterruptedException {
        return start(Map.of());
    }

    /**
     * Starts a cluster.
     *
     * @param settings the settings of the first worker, for example of a shuffle service, of which
     *     a machine has only one
     */
    static StandaloneCluster start(Map<String, String> settings)
            throws IOException, InterruptedException {
        var port = FreePorts.one();
        var cluster = new StandaloneCluster("spark://%s:%d".formatted(HOST, port));
        try {
            cluster.startMaster(port);
            cluster.startWorkers(settings);
            return cluster;
        } catch (Throwable e) {
            cluster.close();
            throw e;
        }
    }

    private void startMaster(int port) throws IOException, InterruptedException {
        start(Map.of(), "org.apache.spark.deploy.master.Master", "--port", String.valueOf(port))
                .awaitListening(port);
    }

    private void startWorkers(Map<String, String> settings)
            throws IOException, InterruptedException {
        var workers = new ArrayList<Program>();
        for (var i = 0; i < WORKERS; i++) {
            workers.add(
                    start(
                            i == 0 ? settings : Map.of(),
                            "org.apache.spark.deploy.worker.Worker",
                            "--cores",
                            "1",
                            "--memory",
                            "512m",
                            url));
        }
        for (var worker : workers) {
            worker.awaitOutput("Successfully registered with master");
        }
    }

    /** Returns a command that starts a JVM with the options and the class path of this JVM. */
    static List<String> java() {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        return command;
    }

    private Program start(Map<String, String> settings, String program, String... arguments)
            throws IOException {
        var command = java();
        settings.forEach((name, value) -> command.add("-D" + name + "=" + value));
        command.addAll(List.of(program, "--host", HOST, "--webui-port", "0"));
        command.addAll(List.of(arguments));
        var started = Program.start(command);
        programs.add(started);
        return started;
    }

    /** The address of the master, for {@code spark.master}. */
    String url() {
        return url;
    }

    @Override
    public void close() throws IOException {
        for (var program : programs.reversed()) {
            program.close();
        }
    }
}
