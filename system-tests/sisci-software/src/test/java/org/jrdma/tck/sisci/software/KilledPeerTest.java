package org.jrdma.tck.sisci.software;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment.Link;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.tck.sisci.PeerProcess;
import org.jrdma.tck.sisci.PeerTaskState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how processes detect that a peer was killed, and how the files of the peer are deleted. */
@Timeout(60)
class KilledPeerTest {

    private static final Duration TIMEOUT = ofSeconds(5);
    private static final int LOCAL_NODE = 4;
    private static final int PEER_NODE = 8;
    private static final int THIRD_NODE = 12;
    private static final int SEGMENT = 7;
    private static final long BYTES = 1 << 20;

    private Path folder;
    private Node node;

    @BeforeEach
    void open() throws Exception {
        folder = FabricProcesses.fabricFolder();
        node = join();
    }

    private Node join() throws Exception {
        return Sisci.from(new SoftSisci(SoftSisciOptions.in(folder).node(LOCAL_NODE))).open();
    }

    @AfterEach
    void closeAndFindNoFiles() throws Exception {
        node.close();
        eventually(() -> files().isEmpty());
    }

    private List<String> files() throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static void eventually(Callable<Boolean> condition) throws Exception {
        var end = System.nanoTime() + TIMEOUT.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("not within %s", TIMEOUT).isLessThan(end);
            Thread.sleep(2);
        }
    }

    /** Returns the lines of /proc/self/maps for deleted files in a directory. */
    private static List<String> deletedMaps(String folder) throws IOException {
        try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains(folder) && line.endsWith("(deleted)"))
                    .toList();
        }
    }

    private static RemoteMap use(Node node, int peer) throws IOException {
        var map = node.connect(peer, SEGMENT, TIMEOUT).map();
        map.putLongRelease(8L * node.id(), node.id());
        map.flush();
        return map;
    }

    @Test
    void shouldReportALostSegmentDuringLoadsAndStoresWithoutACrash() throws Exception {
        try (var killedReceiver = FabricProcesses.peer(folder, PEER_NODE, false);
                var other = FabricProcesses.peer(folder, THIRD_NODE, false)) {
            killedReceiver.run(context -> context.offer(SEGMENT, BYTES));
            other.run(context -> context.put("map", use(context.node(), PEER_NODE)));
            var remote = node.connect(PEER_NODE, SEGMENT, TIMEOUT);
            var map = remote.map();
            var running = new AtomicBoolean(true);
            var failure = new CompletableFuture<Throwable>();
            var storing =
                    Thread.ofPlatform()
                            .uncaughtExceptionHandler((_, thrown) -> failure.complete(thrown))
                            .start(() -> {
                                while (running.get()) {
                                    for (var offset = 0; offset < BYTES; offset += 8) {
                                        map.putLong(offset, 1 + map.getLong(offset));
                                    }
                                }
                            });

            killedReceiver.kill();

            assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.LOST);
            assertThat(remote.link()).isEqualTo(Link.LOST);
            Thread.sleep(20); // loads and stores are running
            running.set(false);
            storing.join();
            assertThat(failure).isNotDone();
            eventually(() -> deletedMaps(folder.toString()).isEmpty());
            var name = folder.toString();
            other.run(context -> {
                var lost = context.get("map", RemoteMap.class);
                eventually(() -> lost.getLong(BYTES - 8) == -1);
                eventually(() -> deletedMaps(name).isEmpty());
            });
            eventually(() -> files().equals(List.of("12.member.0.0", "4.member.0.0")));
            try (var sequence = map.newSequence()) {
                assertThatExceptionOfType(FabricTimeoutException.class)
                        .isThrownBy(() ->
                                sequence.write(0, MemorySegment.ofArray(new byte[8]), ofMillis(20)))
                        .withMessageContaining("NOT_RETRIABLE");
            }
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> node.connect(PEER_NODE, SEGMENT, ofMillis(20)));
            other.reset();
        }
    }

    @Test
    void shouldReportAKilledProcessToTheOtherSideOfAMessageQueue() throws Exception {
        try (var killedReceiver = FabricProcesses.peer(folder, PEER_NODE, false);
                var killedSender = FabricProcesses.peer(folder, THIRD_NODE, false)) {
            killedReceiver.run(context ->
                    context.put("receiver", context.node().newMessageQueue(SEGMENT, 1024)));
            var sender = node.connectMessageQueue(PEER_NODE, SEGMENT, TIMEOUT);
            var receiver = node.newMessageQueue(SEGMENT, 1024);
            killedSender.run(context -> {
                var end = context.node().connectMessageQueue(LOCAL_NODE, SEGMENT, TIMEOUT);
                context.put("sender", end).send(MemorySegment.ofArray(new byte[8]), TIMEOUT);
            });
            assertThat(receiver.receive(TIMEOUT)).hasSize(8);
            // finds the queue empty, so it connects to the sender to report the consumed bytes
            receiver.tryReceive((_, _, _) -> {});

            killedReceiver.kill();
            killedSender.kill();

            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> {
                        while (true) {
                            sender.send(MemorySegment.ofArray(new byte[8]), TIMEOUT);
                        }
                    })
                    .withMessageContaining("has failed");
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(TIMEOUT))
                    .withMessageContaining("has closed or is lost");
            sender.close();
            receiver.close();
        }
    }

    @Test
    void shouldDeliverAllMessagesThatASenderSentBeforeItWasKilled() throws Exception {
        try (var killedReceiver = FabricProcesses.peer(folder, PEER_NODE, false)) {
            var receiver = node.newMessageQueue(SEGMENT, 1024);
            killedReceiver.run(context -> {
                var sender = context.node().connectMessageQueue(LOCAL_NODE, SEGMENT, TIMEOUT);
                for (var number = 0; number < 40; number++) {
                    sender.send(MemorySegment.ofArray(new long[] {number}), TIMEOUT);
                }
            });
            killedReceiver.kill();

            for (var number = 0; number < 40; number++) {
                assertThat(
                                ByteBuffer.wrap(receiver.receive(TIMEOUT))
                                        .order(ByteOrder.nativeOrder())
                                        .getLong())
                        .isEqualTo(number);
            }
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(TIMEOUT))
                    .withMessageContaining("has closed or is lost");
            receiver.close();
        }
    }

    @Test
    void shouldCloseAnAttachedSegmentWhoseOwnerWasKilled() throws Exception {
        try (var killedReceiver = FabricProcesses.peer(folder, LOCAL_NODE, false)) {
            killedReceiver.run(context ->
                    context.put("segment", context.node().newSegment(SEGMENT, BYTES)).share());
            var attached = node.attach(SEGMENT);
            attached.offer(); // also applies to the other process that has the segment
            killedReceiver.kill();
            eventually(() -> files().equals(List.of("4.member.0.0")));

            attached.close();
            node.newSegment(SEGMENT, BYTES).close(); // the id is free again
        }
    }

    @Tag("slow")
    @Test
    void shouldCloseAMessageQueueWithoutWaitingIfTheSenderWasKilled() throws Exception {
        try (var killedReceiver = FabricProcesses.peer(folder, PEER_NODE, false)) {
            var receiver = node.newMessageQueue(SEGMENT, 1024);
            killedReceiver.run(context ->
                    context.put(
                            "sender",
                            context.node().connectMessageQueue(LOCAL_NODE, SEGMENT, TIMEOUT)));
            killedReceiver.kill();
            var start = System.nanoTime();

            receiver.close();

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ofSeconds(4));
        }
    }

    @Tag("slow")
    @Test
    void shouldCleanUpTheDirectoryAtTheNextStartAfterAllProcessesWereKilled() throws Exception {
        node.close();
        try (var first = FabricProcesses.peer(folder, PEER_NODE, false);
                var second = FabricProcesses.peer(folder, THIRD_NODE, false)) {
            for (var process : new PeerProcess[] {first, second}) {
                process.run(context -> context.offer(SEGMENT, BYTES));
                process.run(context -> context.node().newInterrupt());
            }
            first.run(context -> use(context.node(), THIRD_NODE));
            second.run(context -> use(context.node(), PEER_NODE));
            first.kill();
            second.kill();
        }
        assertThat(files()).hasSizeGreaterThan(1);

        node = join();

        assertThat(files()).containsExactly("4.member.0.0");
    }

    @Test
    void shouldLeaveAnEmptyDirectoryWhenTheLastProcessLeaves() throws Exception {
        try (var other = FabricProcesses.peer(folder, PEER_NODE, false)) {
            other.run(context -> context.offer(SEGMENT, BYTES));
            use(node, PEER_NODE).close();
            node.close();
            other.run(PeerTaskState::node);
            other.reset();

            eventually(() -> files().isEmpty());
        }
    }
}
