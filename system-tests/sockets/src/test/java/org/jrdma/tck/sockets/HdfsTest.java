package org.jrdma.tck.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.jrdma.processes.FreePorts;
import org.jrdma.sockets.OpenConnections;
import org.jrdma.sockets.model.Connection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests Hadoop's file system (HDFS) with a NameNode and three DataNodes, each in its own process.
 * The test kills one DataNode while a file is written. Hadoop's streams are NIO channels, and
 * Hadoop implements their timeouts with its own selectors.
 */
@Tag("slow")
@Timeout(300)
class HdfsTest {

    private static final int DATA_NODES = 3;
    private static final int COPIES = 2;
    private static final int BLOCK_BYTES = 1 << 20;
    private static final int FILE_BYTES = 5 * BLOCK_BYTES + 4_321;
    private static final long TIMEOUT_NANOS = 100_000_000_000L;

    @TempDir private Path folder;

    private final List<HostedProgram> dataNodes = new ArrayList<>();
    private List<Integer> ports = List.of();
    private HostedProgram nameNode;

    @BeforeEach
    void start() throws Exception {
        ports = FreePorts.of(1 + DATA_NODES);
        NameNode.format(configuration(nameNodeOptions()));
        nameNode = start("namenode.NameNode", "name.log", nameNodeOptions());
        nameNode.awaitListening(ports.getFirst());
        for (var i = 0; i < DATA_NODES; i++) {
            dataNodes.add(
                    start("datanode.DataNode", "data%d.log".formatted(i), dataNodeOptions(i)));
        }
    }

    @AfterEach
    void stop() {
        dataNodes.forEach(HostedProgram::close);
        nameNode.close();
    }

    private Map<String, String> commonOptions() {
        return Map.of(
                "fs.defaultFS",
                "hdfs://127.0.0.1:" + ports.getFirst(),
                "dfs.client.socketcache.expiryMsec",
                "60000", // keeps idle streams open, so that they are listed
                "dfs.replication",
                Integer.toString(COPIES),
                "dfs.blocksize",
                Integer.toString(BLOCK_BYTES));
    }

    private Map<String, String> nameNodeOptions() {
        return with(
                commonOptions(),
                Map.of(
                        "dfs.namenode.name.dir", folder.resolve("name").toUri().toString(),
                        "dfs.namenode.http-address", "127.0.0.1:0",
                        "dfs.namenode.safemode.extension", "0",
                        "dfs.namenode.handler.count", "3",
                        "dfs.namenode.service.handler.count", "2",
                        // a lost DataNode is detected after 11 s
                        "dfs.namenode.heartbeat.recheck-interval", "500",
                        "dfs.namenode.redundancy.interval.seconds", "1",
                        "dfs.namenode.reconstruction.pending.timeout-sec", "5",
                        "dfs.namenode.datanode.registration.ip-hostname-check", "false"));
    }

    private Map<String, String> dataNodeOptions(int index) throws IOException {
        return with(
                commonOptions(),
                Map.of(
                        "dfs.datanode.data.dir", folder.resolve("data" + index).toUri().toString(),
                        "dfs.datanode.address", "127.0.0.1:" + ports.get(1 + index),
                        "dfs.datanode.ipc.address", "127.0.0.1:0",
                        "dfs.datanode.http.address", "127.0.0.1:0",
                        "dfs.datanode.hostname", "127.0.0.1",
                        "dfs.heartbeat.interval", "1"));
    }

    private static Map<String, String> with(Map<String, String> some, Map<String, String> more) {
        var all = new TreeMap<>(some);
        all.putAll(more);
        return all;
    }

    private static Configuration configuration(Map<String, String> options) {
        var configuration = new HdfsConfiguration();
        options.forEach(configuration::set);
        return configuration;
    }

    private HostedProgram start(String mainClass, String log, Map<String, String> options)
            throws IOException {
        var arguments = new ArrayList<String>();
        options.forEach((name, value) -> arguments.addAll(List.of("-D", name + "=" + value)));
        return HostedProgram.start(
                folder.resolve(log),
                "org.apache.hadoop.hdfs.server." + mainClass,
                arguments,
                StreamReportingMain.REPORT_CLOSED);
    }

    @Test
    void shouldKeepFilesWhenADataNodeIsKilled() throws Exception {
        var firstContent = content(1);
        var secondContent = content(2);
        try (var files =
                (DistributedFileSystem) FileSystem.newInstance(configuration(commonOptions()))) {
            awaitDataNodes(files);
            var firstFile = new org.apache.hadoop.fs.Path("/greeting");
            try (var out = files.create(firstFile)) {
                out.write(firstContent);
            }
            assertThat(read(files, firstFile)).isEqualTo(firstContent);
            var checksum = files.getFileChecksum(firstFile);
            TransportUsage.assertTotal("HDFS's clients", OpenConnections.all(), ports, FILE_BYTES);

            var secondFile = new org.apache.hadoop.fs.Path("/another");
            try (var out = files.create(secondFile)) {
                out.write(secondContent, 0, FILE_BYTES / 2);
                out.hflush();
                assertSentBetweenDataNodes("pipelines", FILE_BYTES + FILE_BYTES / 2);
                dataNodes.get(holder(files, secondFile)).kill();
                out.write(secondContent, FILE_BYTES / 2, FILE_BYTES - FILE_BYTES / 2);
            }

            assertThat(read(files, secondFile)).isEqualTo(secondContent);
            assertThat(read(files, firstFile)).isEqualTo(firstContent);
            assertThat(files.getFileChecksum(firstFile)).isEqualTo(checksum);
            dataNodes.removeIf(dataNode -> !dataNode.isRunning());
            assertReplicatedAgain(files, List.of(firstFile, secondFile));
            for (var dataNode : dataNodes) {
                TransportUsage.assertTotal(
                        "HDFS's DataNodes", dataNode.connections(), ports, 1_000);
            }
        }
    }

    /**
     * Checks that each file is replicated again. Each block is then on both remaining DataNodes, so
     * one of them has sent it to the other, either in the write pipeline or as a new replica.
     */
    private void assertReplicatedAgain(
            DistributedFileSystem files, List<org.apache.hadoop.fs.Path> paths) throws Exception {
        var deadline = System.nanoTime() + TIMEOUT_NANOS;
        for (var path : paths) {
            while (!isReplicatedTo(files, path, COPIES)) {
                assertThat(System.nanoTime() - deadline)
                        .as("time to replicate the blocks")
                        .isNegative();
                Thread.sleep(100);
            }
        }
        assertSentBetweenDataNodes("all copies", (long) paths.size() * FILE_BYTES);
    }

    /**
     * Checks that DataNodes have sent each other at least {@code bytes}, and that all of their
     * streams use the transport of this run.
     */
    private void assertSentBetweenDataNodes(String what, long bytes) throws Exception {
        var deadline = System.nanoTime() + TIMEOUT_NANOS;
        var connections = betweenDataNodes();
        while (sent(connections) < bytes && System.nanoTime() - deadline < 0) {
            Thread.sleep(100); // closed streams are reported with a delay
            connections = betweenDataNodes();
        }
        assertThat(sent(connections)).as(what).isGreaterThanOrEqualTo(bytes);
        TransportUsage.assertTotal("HDFS's DataNodes, " + what, connections, dataPorts(), bytes);
    }

    /**
     * Returns true if the NameNode has noticed the loss of the killed DataNode, and each block of a
     * file is on {@code count} live DataNodes.
     */
    private boolean isReplicatedTo(
            DistributedFileSystem files, org.apache.hadoop.fs.Path path, int count)
            throws IOException {
        if (files.getDataNodeStats(DatanodeReportType.LIVE).length != dataNodes.size()) {
            return false;
        }
        var blocks = files.getClient().getLocatedBlocks(path.toString(), 0, FILE_BYTES);
        return blocks.getLocatedBlocks().stream()
                .allMatch(block -> block.getLocations().length == count);
    }

    private List<Integer> dataPorts() {
        return ports.subList(1, ports.size());
    }

    /** Returns the streams between DataNodes, including closed ones. */
    private List<Connection> betweenDataNodes() throws IOException {
        var connections = new ArrayList<Connection>();
        for (var dataNode : dataNodes) {
            connections.addAll(TransportUsage.to(dataPorts(), dataNode.connections()));
        }
        return connections;
    }

    private static long sent(List<Connection> connections) {
        return connections.stream().mapToLong(Connection::bytesSent).sum();
    }

    /**
     * Returns the index of the DataNode with the first replica of the block that is being written.
     */
    private int holder(DistributedFileSystem files, org.apache.hadoop.fs.Path path)
            throws IOException {
        var blocks = files.getClient().getLocatedBlocks(path.toString(), 0, FILE_BYTES);
        var port = blocks.getLastLocatedBlock().getLocations()[0].getXferPort();
        return ports.indexOf(port) - 1;
    }

    private static void awaitDataNodes(DistributedFileSystem files) throws Exception {
        var deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (files.getDataNodeStats(DatanodeReportType.LIVE).length < DATA_NODES) {
            assertThat(System.nanoTime() - deadline)
                    .as("time to register all DataNodes")
                    .isNegative();
            Thread.sleep(100);
        }
    }

    private static byte[] content(int seed) {
        var bytes = new byte[FILE_BYTES];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static byte[] read(FileSystem files, org.apache.hadoop.fs.Path path)
            throws IOException {
        try (var in = files.open(path)) {
            return in.readAllBytes();
        }
    }
}
