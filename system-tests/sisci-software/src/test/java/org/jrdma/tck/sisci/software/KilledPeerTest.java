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
import org.jrdma.sisci.MessageReceiver;
import org.jrdma.sisci.MessageSender;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment.Link;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.tck.sisci.Party;
import org.jrdma.tck.sisci.PeerProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of those who were connected to a process that is killed, and of its files. */
@Timeout(60)
class KilledPeerTest {

    private static final Duration SOON = ofSeconds(5);
    private static final int HERE = 4;
    private static final int THERE = 8;
    private static final int ELSEWHERE = 12;
    private static final int SEGMENT = 7;
    private static final long BYTES = 1 << 20;

    private Path folder;
    private Node node;

    @BeforeEach
    void open() throws Exception {
        folder = Jvm.fabricFolder();
        node = join();
    }

    private Node join() throws Exception {
        return Sisci.from(new SoftSisci(SoftSisciOptions.in(folder).asNode(HERE))).open();
    }

    @AfterEach
    void leaveNothing() throws Exception {
        node.close();
        eventually(() -> files().isEmpty());
    }

    private List<String> files() throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static void eventually(Callable<Boolean> condition) throws Exception {
        var end = System.nanoTime() + SOON.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("not within %s", SOON).isLessThan(end);
            Thread.sleep(2);
        }
    }

    /** What this process has mapped of files that are no more. */
    private static List<String> deletedMaps(String folder) throws IOException {
        try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains(folder) && line.endsWith("(deleted)"))
                    .toList();
        }
    }

    private static RemoteMap use(Node node, int peer) throws IOException {
        var map = node.connect(peer, SEGMENT, SOON).map();
        map.putLongRelease(8L * node.id(), node.id());
        map.flush();
        return map;
    }

    @Test
    void shouldTellThoseWhoLoadAndStoreInTheMidstOfItAndCrashNobody() throws Exception {
        try (var doomed = Jvm.peer(folder, THERE, false);
                var other = Jvm.peer(folder, ELSEWHERE, false)) {
            doomed.tell(party -> party.offer(SEGMENT, BYTES));
            other.tell(party -> party.keep("map", use(party.node(), THERE)));
            var remote = node.connect(THERE, SEGMENT, SOON);
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

            doomed.kill();

            assertThat(remote.nextEvent(SOON).type()).isEqualTo(SegmentEvent.Type.LOST);
            assertThat(remote.link()).isEqualTo(Link.LOST);
            Thread.sleep(20); // in the midst of loads and stores
            running.set(false);
            storing.join();
            assertThat(failure).isNotDone();
            eventually(() -> deletedMaps(folder.toString()).isEmpty());
            var name = folder.toString();
            other.tell(party -> {
                var lost = party.kept("map", RemoteMap.class);
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
                    .isThrownBy(() -> node.connect(THERE, SEGMENT, ofMillis(20)));
            other.reset();
        }
    }

    @Test
    void shouldTellTheOtherEndOfAMessageQueue() throws Exception {
        try (var doomed = Jvm.peer(folder, THERE, false);
                var alsoDoomed = Jvm.peer(folder, ELSEWHERE, false)) {
            doomed.tell(party ->
                    party.keep("receiver", MessageReceiver.open(party.node(), SEGMENT, 1024)));
            var sender = MessageSender.connect(node, THERE, SEGMENT, SOON);
            var receiver = MessageReceiver.open(node, SEGMENT, 1024);
            alsoDoomed.tell(party -> {
                var end = MessageSender.connect(party.node(), HERE, SEGMENT, SOON);
                party.keep("sender", end).send(MemorySegment.ofArray(new byte[8]), SOON);
            });
            assertThat(receiver.receive(SOON)).hasSize(8);
            receiver.tryReceive((_, _, _) -> {}); // connects, to tell that it is empty

            doomed.kill();
            alsoDoomed.kill();

            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> {
                        while (true) {
                            sender.send(MemorySegment.ofArray(new byte[8]), SOON);
                        }
                    })
                    .withMessageContaining("has failed");
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(SOON))
                    .withMessageContaining("is gone");
            sender.close();
            receiver.close();
        }
    }

    @Test
    void shouldHandOverAllThatASenderSentBeforeItWasKilled() throws Exception {
        try (var doomed = Jvm.peer(folder, THERE, false)) {
            var receiver = MessageReceiver.open(node, SEGMENT, 1024);
            doomed.tell(party -> {
                var sender = MessageSender.connect(party.node(), HERE, SEGMENT, SOON);
                for (var number = 0; number < 40; number++) {
                    sender.send(MemorySegment.ofArray(new long[] {number}), SOON);
                }
            });
            doomed.kill();

            for (var number = 0; number < 40; number++) {
                assertThat(
                                ByteBuffer.wrap(receiver.receive(SOON))
                                        .order(ByteOrder.nativeOrder())
                                        .getLong())
                        .isEqualTo(number);
            }
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(SOON))
                    .withMessageContaining("is gone");
            receiver.close();
        }
    }

    @Test
    void shouldLetGoOfASharedSegmentWhoseMakerWasKilledThoughItOfferedIt() throws Exception {
        try (var doomed = Jvm.peer(folder, HERE, false)) {
            doomed.tell(party ->
                    party.keep("segment", party.node().newSegment(SEGMENT, BYTES)).share());
            var attached = node.attach(SEGMENT);
            attached.offer(); // on behalf of all
            doomed.kill();
            eventually(() -> files().equals(List.of("4.member.0.0")));

            attached.close();
            node.newSegment(SEGMENT, BYTES).close(); // the id is free again
        }
    }

    @Test
    void shouldCloseAMessageQueueAtOnceWhoseSenderWasKilledBeforeItSentAnything() throws Exception {
        try (var doomed = Jvm.peer(folder, THERE, false)) {
            var receiver = MessageReceiver.open(node, SEGMENT, 1024);
            doomed.tell(party ->
                    party.keep("sender", MessageSender.connect(party.node(), HERE, SEGMENT, SOON)));
            doomed.kill();
            var start = System.nanoTime();

            receiver.close();

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ofSeconds(4));
        }
    }

    @Test
    void shouldFindAnEmptyDirectoryAfterTheNextStartWhereAllWereKilled() throws Exception {
        node.close();
        try (var first = Jvm.peer(folder, THERE, false);
                var second = Jvm.peer(folder, ELSEWHERE, false)) {
            for (var process : new PeerProcess[] {first, second}) {
                process.tell(party -> party.offer(SEGMENT, BYTES));
                process.tell(party -> party.node().newInterrupt());
            }
            first.tell(party -> use(party.node(), ELSEWHERE));
            second.tell(party -> use(party.node(), THERE));
            first.kill();
            second.kill();
        }
        assertThat(files()).hasSizeGreaterThan(1);

        node = join();

        assertThat(files()).containsExactly("4.member.0.0");
    }

    @Test
    void shouldLeaveAnEmptyDirectoryWhenTheLastHasLeft() throws Exception {
        try (var other = Jvm.peer(folder, THERE, false)) {
            other.tell(party -> party.offer(SEGMENT, BYTES));
            use(node, THERE).close();
            node.close();
            other.tell(Party::node);
            other.reset();

            eventually(() -> files().isEmpty());
        }
    }
}
