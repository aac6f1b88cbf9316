package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jrdma.ffi.linkage.SeqPacketSocket.Packet.NO_DESCRIPTOR;
import static org.jrdma.soft.sisci.abi.ThreeNodes.eventually;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that need two processes. */
class ProcessesTest {

    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private Path folder;
    private LibraryCaller self;
    private long descriptor;

    @BeforeEach
    void join() throws Exception {
        folder = Files.createTempDirectory(Path.of("/dev/shm"), "sisci-test");
        self = LibraryCaller.in(SoftSisciOptions.in(folder));
        descriptor = self.open();
    }

    @AfterEach
    void leaveAndVerifyThatNoFileRemains() throws Exception {
        self.close();
        assertThat(files()).isEmpty();
        Files.delete(folder);
    }

    private List<String> files() throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void shouldRefuseToJoinWhileTheJvmIsExiting() throws Exception {
        var before = files();

        assertThat(output(JoinDuringExit.class, folder.toString())).endsWith("refused\n");
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void shouldStayInTheFabricUntilTheShutdownHooksOfTheProgramHaveEnded() throws Exception {
        var before = files();
        self.offer(descriptor, Peer.SEGMENT, Peer.BYTES);
        var offered = files();

        assertThat(output(UseDuringExit.class, folder.toString(), Integer.toString(self.node())))
                .endsWith("mapped %d bytes\n".formatted(Peer.BYTES));
        assertThat(offered).hasSizeGreaterThan(before.size());
        assertThat(files()).isEqualTo(offered);
    }

    /** Runs a program, and returns its output. */
    private static String output(Class<?> program, String... arguments) throws IOException {
        var words =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                Peer.classPath(),
                                program.getName()));
        words.addAll(List.of(arguments));
        var process = new ProcessBuilder(words).redirectErrorStream(true).start();
        return new String(process.getInputStream().readAllBytes(), UTF_8);
    }

    @Test
    void shouldExchangeWordsThroughTheMemoryOfAnotherProcess() throws Exception {
        try (var peer = Peer.start(folder, 0, "echo", 0)) {
            var memory = map(peer).memory();

            for (var i = 1L; i <= 1_000; i++) {
                var sent = i;
                WORD.setVolatile(memory, 0L, sent);
                eventually(() -> (long) WORD.getVolatile(memory, 8L) == sent);
            }
        }
    }

    private LibraryCaller.Mapped map(Peer peer) {
        return self.mapRemote(self.connect(descriptor, peer.node(), Peer.SEGMENT), Peer.BYTES);
    }

    @Test
    void shouldReceiveEachTriggerOfAnotherProcessOnce() throws Exception {
        try (var peer = Peer.start(folder, 0, "echo", 0)) {
            var memory = map(peer).memory();
            var interrupt = self.place();
            self.ok(
                    "SCIConnectInterrupt",
                    descriptor,
                    interrupt.address(),
                    peer.node(),
                    0,
                    Peer.INTERRUPT,
                    -1,
                    0);

            for (var i = 0; i < 2_000; i++) {
                self.ok("SCITriggerInterrupt", LibraryCaller.handle(interrupt), 0);
            }

            eventually(() -> (long) WORD.getVolatile(memory, 16L) == 2_000);
        }
    }

    @Test
    void shouldNotBlockOnAStoppedProcessOrLoseItsTriggers() throws Exception {
        try (var peer = Peer.start(folder, 0, "echo", 0)) {
            var memory = map(peer).memory();
            var interrupt = self.place();
            self.ok(
                    "SCIConnectInterrupt",
                    descriptor,
                    interrupt.address(),
                    peer.node(),
                    0,
                    Peer.INTERRUPT,
                    -1,
                    0);
            peer.signal("STOP");

            assertTimeoutPreemptively(
                    Duration.ofSeconds(20),
                    () -> {
                        for (var i = 0; i < 20_000; i++) {
                            self.ok("SCITriggerInterrupt", LibraryCaller.handle(interrupt), 0);
                        }
                    });

            peer.signal("CONT");
            eventually(() -> (long) WORD.getVolatile(memory, 16L) == 20_000);
        }
    }

    @Test
    @Tag("slow")
    void shouldReportProcessesThatDoNotRespondToACutLink() throws Exception {
        try (var peer = Peer.start(folder, 0, "echo", 0)) {
            peer.signal("STOP");

            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> self.fabric().cutLink(0))
                    .withMessageContaining("may still use the old state")
                    .withMessageContaining("node=" + peer.node());

            peer.signal("CONT");
            self.fabric().restoreLink(0);
        }
    }

    @Test
    void shouldCutTheMapsOfTheSegmentOfAKilledProcess() throws Exception {
        try (var peer = Peer.start(folder, 0, "echo", 0)) {
            var remote = self.connect(descriptor, peer.node(), Peer.SEGMENT);
            var map = self.mapRemote(remote, Peer.BYTES);
            var sequence = self.sequence(map);

            peer.kill();

            assertThat(self.remoteEvent(remote)).isEqualTo(sisci_h.SCI_CB_LOST());
            assertThat(map.memory().get(JAVA_LONG, 4096)).isEqualTo(-1);
            map.memory().set(JAVA_LONG, 0, 1);
            assertThat(self.call("SCICheckSequence", sequence, 0))
                    .isEqualTo(sisci_h.SCI_SEQ_NOT_RETRIABLE());
            assertThat(self.call("SCIStartSequence", sequence, 0))
                    .isEqualTo(sisci_h.SCI_SEQ_NOT_RETRIABLE());
            assertThat(mappingsOf(folder)).isEmpty();
            eventually(() -> files().equals(List.of("4.member.0.0")));
            self.ok("SCIRemoveSequence", sequence, 0);
            self.ok("SCIUnmapSegment", map.handle(), 0);
            self.ok("SCIDisconnectSegment", remote, 0);
            self.ok("SCIClose", descriptor, 0);
        }
    }

    private static List<String> mappingsOf(Path folder) throws IOException {
        try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains(folder.toString())).toList();
        }
    }

    @Test
    void shouldNotifyTheOwnerOfAKilledPeerAndAllowTheRemoval() throws Exception {
        var segment = self.offer(descriptor, Peer.SEGMENT, Peer.BYTES);
        try (var peer = Peer.start(folder, 0, "use", self.node())) {
            assertThat(self.attempt("SCIRemoveSegment", segment, 0)).isEqualTo("BUSY");

            peer.kill();

            assertThat(self.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_CONNECT());
            assertThat(self.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_LOST());
            self.ok("SCIRemoveSegment", segment, 0);
            self.ok("SCIClose", descriptor, 0);
        }
    }

    @Test
    void shouldDisconnectAProcessThatSendsAMalformedMessage() throws Exception {
        var beforeHello = new byte[32];
        beforeHello[0] = (byte) RawProcess.number(Message.Kind.REFRESH);
        for (var malformed :
                new byte[][] {
                    new byte[3], {99, 0, 0, 0}, new byte[32], filled(32), filled(4128), beforeHello
                }) {
            try (var arena = Arena.ofConfined()) {
                var socket = SeqPacketSocket.connect(folder.resolve("4.member.0.0").toString());
                var packet = new SeqPacketSocket.Packet(8192, arena);
                packet.memory().copyFrom(MemorySegment.ofArray(malformed));

                assertThat(SeqPacketSocket.send(socket, packet, malformed.length, NO_DESCRIPTOR))
                        .isZero();

                eventually(() -> SeqPacketSocket.receive(socket, packet) == 0);
                SystemCalls.close(socket);
            }
        }
        try (var peer = Peer.start(folder, 0, "echo", 0)) {
            assertThat(map(peer).memory().get(JAVA_LONG, 4096)).isZero();
        }
    }

    private static byte[] filled(int length) {
        var bytes = new byte[length];
        Arrays.fill(bytes, (byte) 0x7f);
        return bytes;
    }

    @Test
    void shouldDeleteTheFilesOfKilledProcesses() throws Exception {
        self.close();
        Peer.start(folder, 0, "echo", 0).kill();
        assertThat(files()).contains("4.segment.7.0");

        self = LibraryCaller.in(SoftSisciOptions.in(folder));

        assertThat(self.node()).isEqualTo(4);
        assertThat(files()).containsExactly("4.member.0.0");
    }

    @Test
    void shouldDeleteTheFilesOfAProgramThatExitsWithoutClosing() throws Exception {
        try (var peer = Peer.start(folder, 0, "echo", 0)) {
            assertThat(peer.end()).isZero();

            assertThat(files()).containsExactly("4.member.0.0");
        }
    }

    @Test
    void shouldShareASegmentAndItsStateBetweenProcessesOfANode() throws Exception {
        try (var peer = Peer.start(folder, self.node(), "share", 0)) {
            assertThat(peer.node()).isEqualTo(self.node());
            var segment = self.place();
            var bytes = self.place();
            self.ok(
                    "SCIAttachLocalSegment",
                    descriptor,
                    segment.address(),
                    Peer.SEGMENT,
                    bytes.address(),
                    0,
                    0,
                    0);
            assertThat(bytes.get(JAVA_LONG, 0)).isEqualTo(Peer.BYTES);
            var own = self.mapLocal(LibraryCaller.handle(segment), Peer.BYTES).memory();
            var remote = map(peer).memory();

            remote.set(JAVA_LONG, 0, 5);

            assertThat(own.get(JAVA_LONG, 0)).isEqualTo(5);
            assertThat(self.attempt("SCIPrepareSegment", LibraryCaller.handle(segment), 0, 0))
                    .isEqualTo("ILLEGAL_OPERATION"); // The owner has already prepared the segment.
            self.ok("SCISetSegmentUnavailable", LibraryCaller.handle(segment), 0, 0);
            assertThat(
                            self.attempt(
                                    "SCIConnectSegment",
                                    descriptor,
                                    self.place().address(),
                                    peer.node(),
                                    Peer.SEGMENT,
                                    0,
                                    0,
                                    0,
                                    -1,
                                    0))
                    .isEqualTo("NO_SUCH_INTNO");
        }
    }

    @Test
    void shouldLoseASharedSegmentWhoseOwnerIsKilled() throws Exception {
        try (var peer = Peer.start(folder, self.node(), "share", 0)) {
            var segment = self.place();
            self.ok(
                    "SCIAttachLocalSegment",
                    descriptor,
                    segment.address(),
                    Peer.SEGMENT,
                    self.place().address(),
                    0,
                    0,
                    0);
            var memory = self.mapLocal(LibraryCaller.handle(segment), Peer.BYTES).memory();

            peer.kill();

            assertThat(self.localEvent(LibraryCaller.handle(segment)))
                    .isEqualTo(sisci_h.SCI_CB_LOST());
            assertThat(memory.get(JAVA_LONG, 0)).isEqualTo(-1);
            assertThat(mappingsOf(folder)).isEmpty();
        }
    }

    @Test
    void shouldNotCrashWritersOfALostSegment() throws Exception {
        try (var peer = Peer.start(folder, 0, "echo", 0)) {
            MemorySegment memory = map(peer).memory();
            var running = new AtomicBoolean(true);
            var rounds = new AtomicLong();
            var writer =
                    CompletableFuture.runAsync(
                            () -> {
                                while (running.get()) {
                                    memory.fill((byte) 1);
                                    rounds.incrementAndGet();
                                }
                            },
                            task -> Thread.ofPlatform().start(task));
            eventually(() -> rounds.get() > 100);

            peer.kill();
            eventually(() -> mappingsOf(folder).isEmpty());
            var roundsAtLoss = rounds.get();
            eventually(() -> writer.isDone() || rounds.get() > roundsAtLoss + 100);

            running.set(false);
            writer.join(); // Rethrows an exception of the writer.
        }
    }
}
