package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.abi.sisci.sisci_h.SCI_ERR_ACCESS;
import static org.jrdma.ffi.linkage.SeqPacketSocket.Packet.NO_DESCRIPTOR;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jrdma.ffi.linkage.SealedMemory;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.control.FabricDirectory;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.host.SignalSocket;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a process whose fabric directory is shared with a hostile process. */
@Timeout(60)
class HostileProcessTest {

    private static final int SEGMENT = 7;
    private static final long BYTES = 64 << 10;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int REPETITIONS = 100;
    private static final int MANY_REQUESTS = 3_000;
    private static final int MAX_REFUSALS = 50;
    private static final long REFUSAL_PAUSE_NANOS = 10_000_000;

    private int node = 4;
    private Path folder;
    private LibraryCaller self;
    private long descriptor;

    /** True if the hostile process continues to run after its response. */
    private boolean keepsConnections;

    private final List<Integer> keptConnections = new ArrayList<>();

    @BeforeEach
    void join(@TempDir Path place) {
        folder = place;
        self = LibraryCaller.in(SoftSisciOptions.in(folder));
        descriptor = self.open();
    }

    @AfterEach
    void leave() {
        self.close();
        keptConnections.forEach(SystemCalls::close);
    }

    @Test
    void shouldKeepTheMemoryOfASegmentIfAProcessTruncatesEveryFile() throws Exception {
        var own = self.mapLocal(self.offer(descriptor, SEGMENT, BYTES), BYTES).memory();
        var remote = self.mapRemote(self.connect(descriptor, self.node(), SEGMENT), BYTES).memory();
        remote.set(JAVA_LONG, 4096, 5);

        try (var files = Files.list(folder)) {
            files.filter(Files::isRegularFile).forEach(HostileProcessTest::truncate);
        }

        assertThat(own.get(JAVA_LONG, 4096)).isEqualTo(5);
        remote.set(JAVA_LONG, BYTES - 8, 6);
        assertThat(own.get(JAVA_LONG, BYTES - 8)).isEqualTo(6);
    }

    private static void truncate(Path file) {
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            var _ = channel.truncate(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A connected process has a descriptor of the memory. */
    @Test
    void shouldNotLetAConnectedProcessTruncateTheMemoryOfASegment() throws Exception {
        self.offer(descriptor, SEGMENT, BYTES);
        self.connect(descriptor, self.node(), SEGMENT);
        List<Path> memory;
        try (var descriptors = Files.list(DESCRIPTORS)) {
            memory =
                    descriptors
                            .filter(each -> target(each).contains(folder + "/4.segment"))
                            .toList();
        }

        assertThat(memory).hasSize(2);
        for (var each : memory) {
            assertThatThrownBy(() -> truncate(each)).hasMessageContaining("not permitted");
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return ""; // The segment was closed in the meantime.
        }
    }

    @Test
    void shouldRejectMemoryWhoseOwnerCanTruncateIt() throws Exception {
        var file = folder.resolve("file");
        Files.write(file, new byte[(int) BYTES]);
        var ordinary = SystemCalls.openFile(file.toString());
        var unsealed = SealedMemory.create("unsealed");
        SystemCalls.setFileBytes(unsealed, BYTES);
        var tooSmall = SealedMemory.create("too small");
        SealedMemory.reserve(tooSmall, BYTES);
        var valid = SealedMemory.create("valid");
        SealedMemory.reserve(valid, BYTES);

        assertThat(connectTo(ordinary, BYTES)).isEqualTo("NO_SUCH_INTNO");
        assertThat(connectTo(unsealed, BYTES)).isEqualTo("NO_SUCH_INTNO");
        assertThat(connectTo(tooSmall, BYTES + 1)).isEqualTo("NO_SUCH_INTNO");
        assertThat(connectTo(valid, 0)).isEqualTo("NO_SUCH_INTNO");
        assertThat(connectTo(valid, Long.MIN_VALUE)).isEqualTo("NO_SUCH_INTNO");
        assertThat(connectTo(NO_DESCRIPTOR, BYTES)).isEqualTo("NOSPC");
        assertThat(connectTo(valid, BYTES)).isEqualTo("OK");
        for (var each : new int[] {ordinary, unsealed, tooSmall, valid}) {
            SystemCalls.close(each);
        }
    }

    /** Connects to a segment whose owner responds with the given memory and size. */
    private String connectTo(int memory, long bytes) throws Exception {
        return connectTo(memory, bytes, 0);
    }

    private String connectTo(int memory, long bytes, int error) throws Exception {
        return connectTo(
                "segment",
                Kind.CONNECT_SEGMENT,
                memory,
                bytes,
                error,
                () ->
                        self.attempt(
                                "SCIConnectSegment",
                                descriptor,
                                self.place().address(),
                                node,
                                SEGMENT,
                                0,
                                0,
                                0,
                                -1,
                                0));
    }

    /**
     * Connects to an object of a hostile process.
     *
     * @param request the kind of request that the hostile process responds to
     */
    private String connectTo(
            String object, Kind request, int sent, long value, int error, Supplier<String> connect)
            throws Exception {
        // Each call uses another node, because the process may not have noticed yet that the
        // previous node has ended.
        node += 4;
        var member = folder.resolve(node + ".member.0.0");
        int listening;
        try (var directory = FabricDirectory.open(folder, false)) {
            listening =
                    directory.locked(() -> { // Otherwise, a process could delete the new files.
                        var socket = SeqPacketSocket.listen(member.toString());
                        SystemCalls.close(
                                SystemCalls.createFile(
                                        folder.resolve("%d.%s.7.0".formatted(node, object))
                                                .toString()));
                        return socket;
                    });
        }
        var owner =
                CompletableFuture.runAsync(
                        () -> respond(listening, request, sent, value, error),
                        task -> Thread.ofPlatform().daemon().start(task));
        try {
            return connect.get();
        } finally {
            owner.join();
            SystemCalls.close(listening);
        }
    }

    private void respond(int listening, Kind request, int descriptor, long value, int error) {
        try (var arena = Arena.ofConfined()) {
            var packet = new SeqPacketSocket.Packet(8192, arena);
            var socket = acceptRequest(listening, request, packet);
            packet.memory().set(JAVA_INT, 0, RawProcess.number(Kind.RESPONSE));
            packet.memory().set(JAVA_INT, 8, error);
            packet.memory().set(JAVA_LONG, 24, value);
            assertThat(SeqPacketSocket.send(socket, packet, 32, descriptor)).isZero();
            if (keepsConnections) {
                keptConnections.add(socket);
            } else {
                SystemCalls.close(socket);
            }
        }
    }

    /** Skips the connections by which a process only checks whether this process exists. */
    private static int acceptRequest(int listening, Kind request, SeqPacketSocket.Packet packet) {
        while (true) {
            var socket = (int) RawProcess.await(() -> SeqPacketSocket.accept(listening));
            while (RawProcess.await(() -> SeqPacketSocket.receive(socket, packet)) > 0) {
                if (packet.memory().get(JAVA_INT, 0) == RawProcess.number(request)) {
                    return socket;
                }
            }
            SystemCalls.close(socket);
        }
    }

    @Test
    void shouldCloseDescriptorsThatItHasNotRequested() throws Exception {
        try (var sender = new RawProcess(folder, self.node()).hello(8)) {
            var before = count(DESCRIPTORS);
            var sent = SealedMemory.create("unwanted");

            for (var i = 1; i <= REPETITIONS; i++) {
                send(sender, Kind.RESPONSE, sent);
                send(sender, Kind.TRIGGER, sent);
                send(sender, Kind.REFRESH, sent);
                sender.receive();
            }

            SystemCalls.close(sent);
            assertThat(count(DESCRIPTORS)).isLessThan(before + 10);
        }
    }

    private static void send(RawProcess sender, Kind kind, int memory) {
        sender.send(kind, 0, 0, 0, 0, new byte[0], memory);
    }

    /**
     * Each response to a request for memory contains a descriptor, which stays open until the
     * response is sent.
     */
    @Test
    void shouldLimitTheDescriptorsForAProcessThatDoesNotReadResponses() throws Exception {
        self.offer(descriptor, SEGMENT, BYTES);
        try (var requester = new RawProcess(folder, self.node()).hello(8)) {
            var before = count(DESCRIPTORS);

            var refusals = 0;
            for (var i = 1; i <= MANY_REQUESTS && refusals < MAX_REFUSALS; ) {
                if (tryConnect(requester)) {
                    i++;
                } else { // The socket is full: the receiver is slow, or no longer receives.
                    refusals++;
                    LockSupport.parkNanos(REFUSAL_PAUSE_NANOS);
                }
            }

            assertThat(count(DESCRIPTORS)).isLessThan(before + 400);
            for (var i = 0; i < 10; i++) {
                requester.receive();
            }
            self.connect(descriptor, self.node(), SEGMENT); // Other processes are still served.
        }
    }

    private static boolean tryConnect(RawProcess requester) {
        return requester.trySend(
                Kind.CONNECT_SEGMENT, SEGMENT, 0, 0, 0, new byte[0], NO_DESCRIPTOR);
    }

    @Test
    void shouldCloseADescriptorThatComesWithAnErrorCode() throws Exception {
        var memory = SealedMemory.create("with an error");
        SealedMemory.reserve(memory, BYTES);
        assertThat(connectTo(memory, BYTES, SCI_ERR_ACCESS())).isEqualTo("ACCESS");
        var before = count(DESCRIPTORS);

        for (var i = 0; i < 20; i++) {
            assertThat(connectTo(memory, BYTES, SCI_ERR_ACCESS())).isEqualTo("ACCESS");
        }

        assertThat(count(DESCRIPTORS)).isLessThan(before + 15);
        SystemCalls.close(memory);
    }

    /** A write to a file descriptor of another kind could block. */
    @Test
    void shouldRefuseAnInterruptWhoseOwnerSendsAFileInsteadOfASocket() throws Exception {
        var file = SystemCalls.createFile(folder.resolve("file").toString());
        keepsConnections = true;

        assertThat(connectToInterrupt(file, 0, self.place())).isEqualTo("CONNECTION_REFUSED");

        SystemCalls.close(file);
    }

    /** The owner could make a call with a socket of another kind block. */
    @Test
    void shouldRefuseAnInterruptWhoseOwnerSendsAPacketSocket() throws Exception {
        var member =
                SeqPacketSocket.connect(
                        folder.resolve("%d.member.0.0".formatted(self.node())).toString());
        keepsConnections = true;

        assertThat(connectToInterrupt(member, 0, self.place())).isEqualTo("CONNECTION_REFUSED");

        SystemCalls.close(member);
    }

    @Test
    void shouldNotBlockIfTheOwnerOfAnInterruptDoesNotReceiveSignals() throws Exception {
        var sockets = SignalSocket.open();
        keepsConnections = true;
        var interrupt = self.place();
        assertThat(connectToInterrupt(sockets.sender(), 0, interrupt)).isEqualTo("OK");

        for (var i = 0; i < MANY_REQUESTS; i++) {
            self.ok("SCITriggerInterrupt", LibraryCaller.handle(interrupt), 0);
        }

        self.ok("SCIDisconnectInterrupt", LibraryCaller.handle(interrupt), 0);
        SystemCalls.close(sockets.sender());
        SystemCalls.close(sockets.receiver());
    }

    @Test
    void shouldCloseASocketThatComesWithAnErrorCode() throws Exception {
        var sockets = SignalSocket.open();
        var before = count(DESCRIPTORS);

        for (var i = 0; i < 20; i++) {
            assertThat(connectToInterrupt(sockets.sender(), SCI_ERR_ACCESS(), self.place()))
                    .isEqualTo("ACCESS");
        }

        assertThat(count(DESCRIPTORS)).isLessThan(before + 15);
        SystemCalls.close(sockets.sender());
        SystemCalls.close(sockets.receiver());
    }

    private String connectToInterrupt(int sent, int error, MemorySegment interrupt)
            throws Exception {
        return connectTo(
                "interrupt",
                Kind.CONNECT_INTERRUPT,
                sent,
                0,
                error,
                () ->
                        self.attempt(
                                "SCIConnectInterrupt",
                                descriptor,
                                interrupt.address(),
                                node,
                                0,
                                SEGMENT,
                                -1,
                                0));
    }

    @Test
    void shouldLimitTheSocketsThatAProcessCanRequest() throws Exception {
        var number = self.place();
        self.ok(
                "SCICreateInterrupt",
                descriptor,
                self.place().address(),
                0,
                number.address(),
                0,
                0,
                0);
        var before = count(DESCRIPTORS);
        try (var requester = new RawProcess(folder, self.node()).hello(8)) {
            for (var i = 0; i < REPETITIONS; i++) {
                var own = number.get(JAVA_INT, 0);
                assertThat(requester.request(Kind.CONNECT_INTERRUPT, own, 0, i, 0)).isEqualTo("OK");
                assertThat(requester.request(Kind.CONNECT_INTERRUPT, own, 0, 0, 0)).isEqualTo("OK");
            }

            assertThat(count(DESCRIPTORS)).isLessThan(before + 10);
        }
    }

    /** When a connection ends, a thread deletes the files of its process, which takes some time. */
    @Test
    void shouldUseFewThreadsForManyConnectionsOfAProcessThatHasNotEnded() throws Exception {
        for (var i = 0; i < REPETITIONS; i++) {
            new RawProcess(folder, self.node()).hello(self.node()).close();
        }
        // The end of each connection has been handled when this request has been.
        self.offer(descriptor, SEGMENT, BYTES);
        try (var requester = new RawProcess(folder, self.node()).hello(8)) {
            requester.request(Kind.CONNECT_SEGMENT, SEGMENT, 0, 0, 0);
        }

        assertThat(countWorkers()).isLessThan(20);
    }

    private static long countWorkers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("sisci-soft-worker-"))
                .count();
    }

    @Test
    void shouldUseFewThreadsForManySlowRequestsOfAProcess() throws Exception {
        for (var i = 0; i < MANY_REQUESTS; i++) { // Reading the directory takes longer.
            Files.createFile(folder.resolve("file" + i));
        }
        try (var requester = new RawProcess(folder, self.node()).hello(8)) {
            for (var i = 0; i < REPETITIONS; i++) {
                requester.send(Kind.REFRESH, 0, 0, 0, 0, new byte[0], NO_DESCRIPTOR);
            }
            for (var i = 0; i < REPETITIONS; i++) {
                requester.receive();
            }
        }

        assertThat(countWorkers()).isLessThan(20);
    }

    /** The kernel accepts names of at most 249 bytes for memory. */
    @Test
    void shouldShortenTheNameOfMemoryToTheLimitOfTheKernel() throws Exception {
        var memory = SealedMemory.create("\u00e4\u8a9e".repeat(200));

        assertThat(target(DESCRIPTORS.resolve("" + memory))).contains("\u00e4\u8a9e");
        SystemCalls.close(memory);
    }

    private static long count(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.count();
        }
    }
}
