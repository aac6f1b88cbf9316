package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.abi.sisci.sisci_h.SCI_ERR_ACCESS;
import static org.jrdma.soft.sisci.host.PacketSocket.Packet.NO_DESCRIPTOR;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.control.FabricDirectory;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.host.PacketSocket;
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

    private static final long AWAIT_NANOS = 20_000_000_000L;

    private int node = 4;
    private Path folder;
    private LibraryCaller self;
    private long descriptor;

    @BeforeEach
    void join(@TempDir Path place) {
        folder = place;
        self = LibraryCaller.in(SoftSisciOptions.in(folder));
        descriptor = self.open();
    }

    @AfterEach
    void leave() {
        self.close();
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
        var unsealed = SystemCalls.createMemory("unsealed");
        SystemCalls.setFileBytes(unsealed, BYTES);
        var tooSmall = SystemCalls.createMemory("too small");
        SystemCalls.reserve(tooSmall, BYTES);
        var valid = SystemCalls.createMemory("valid");
        SystemCalls.reserve(valid, BYTES);

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
        // The process may not have noticed yet that the previous node has ended, so the connect is
        // repeated.
        node += 4;
        var member = folder.resolve(node + ".member.0.0");
        int listening;
        try (var directory = FabricDirectory.open(folder, false)) {
            listening =
                    directory.locked(() -> { // Otherwise, a process could delete the new files.
                        var socket = PacketSocket.listen(member.toString());
                        SystemCalls.close(
                                SystemCalls.createFile(
                                        folder.resolve(node + ".segment.7.0").toString()));
                        return socket;
                    });
        }
        var owner =
                CompletableFuture.runAsync(
                        () -> respondWithMemory(listening, memory, bytes, error),
                        task -> Thread.ofPlatform().daemon().start(task));
        try {
            return self.attempt(
                    "SCIConnectSegment",
                    descriptor,
                    self.place().address(),
                    node,
                    SEGMENT,
                    0,
                    0,
                    0,
                    -1,
                    0);
        } finally {
            owner.join();
            SystemCalls.close(listening);
        }
    }

    private static void respondWithMemory(int listening, int memory, long bytes, int error) {
        try (var arena = Arena.ofConfined()) {
            var packet = new PacketSocket.Packet(8192, arena);
            var socket = acceptRequest(listening, packet);
            packet.memory().set(JAVA_INT, 0, number(Message.Kind.RESPONSE));
            packet.memory().set(JAVA_INT, 8, error);
            packet.memory().set(JAVA_LONG, 24, bytes);
            assertThat(PacketSocket.send(socket, packet, 32, memory)).isZero();
            SystemCalls.close(socket);
        }
    }

    /** Skips the connections by which a process only checks whether this process exists. */
    private static int acceptRequest(int listening, PacketSocket.Packet packet) {
        while (true) {
            var socket = (int) await(() -> PacketSocket.accept(listening));
            while (await(() -> PacketSocket.receive(socket, packet)) > 0) {
                if (packet.memory().get(JAVA_INT, 0) == number(Message.Kind.CONNECT_SEGMENT)) {
                    return socket;
                }
            }
            SystemCalls.close(socket);
        }
    }

    /** Returns the number of a kind in messages. */
    static int number(Message.Kind kind) {
        return List.of(Message.Kind.values()).indexOf(kind);
    }

    /** Repeats a call that does not wait, until its result is not negative. */
    static long await(LongSupplier call) {
        var end = System.nanoTime() + AWAIT_NANOS;
        for (var result = call.getAsLong(); ; result = call.getAsLong()) {
            if (result >= 0) {
                return result;
            }
            assertThat(System.nanoTime()).as("no result within 20 s").isLessThan(end);
            LockSupport.parkNanos(100_000);
        }
    }

    @Test
    void shouldCloseDescriptorsThatItHasNotRequested() throws Exception {
        try (var arena = Arena.ofConfined()) {
            var packet = new PacketSocket.Packet(8192, arena);
            var socket = PacketSocket.connect(folder.resolve("4.member.0.0").toString());
            send(socket, packet, Message.Kind.HELLO, 0, 8, NO_DESCRIPTOR);
            var before = count(DESCRIPTORS);
            var sent = SystemCalls.createMemory("unwanted");

            for (var i = 1; i <= REPETITIONS; i++) {
                send(socket, packet, Message.Kind.RESPONSE, i, 0, sent);
                send(socket, packet, Message.Kind.TRIGGER, i, 0, sent);
                send(socket, packet, Message.Kind.REFRESH, i, 0, sent);
                var _ = await(() -> PacketSocket.receive(socket, packet));
            }

            SystemCalls.close(sent);
            assertThat(count(DESCRIPTORS)).isLessThan(before + 10);
            SystemCalls.close(socket);
        }
    }

    /** Each response to a request for memory has a descriptor, which is open until it is sent. */
    @Test
    void shouldLimitTheDescriptorsForAProcessThatDoesNotReadResponses() throws Exception {
        self.offer(descriptor, SEGMENT, BYTES);
        try (var arena = Arena.ofConfined()) {
            var packet = new PacketSocket.Packet(8192, arena);
            var socket = PacketSocket.connect(folder.resolve("4.member.0.0").toString());
            send(socket, packet, Message.Kind.HELLO, 0, 8, NO_DESCRIPTOR);
            var before = count(DESCRIPTORS);

            var refusals = 0;
            for (var i = 1; i <= MANY_REQUESTS && refusals < MAX_REFUSALS; ) {
                if (trySend(socket, packet, Message.Kind.CONNECT_SEGMENT, i, SEGMENT)) {
                    i++;
                } else { // The socket is full: the receiver is slow, or no longer receives.
                    refusals++;
                    LockSupport.parkNanos(REFUSAL_PAUSE_NANOS);
                }
            }

            assertThat(count(DESCRIPTORS)).isLessThan(before + 400);
            for (var i = 0; i < 10; i++) {
                var _ = await(() -> PacketSocket.receive(socket, packet));
                if (packet.descriptor() != NO_DESCRIPTOR) {
                    SystemCalls.close(packet.descriptor());
                }
            }
            self.connect(descriptor, self.node(), SEGMENT); // Other processes are still served.
            SystemCalls.close(socket);
        }
    }

    private static boolean trySend(
            int socket,
            PacketSocket.Packet packet,
            Message.Kind kind,
            int correlation,
            int subject) {
        packet.memory().fill((byte) 0);
        packet.memory().set(JAVA_INT, 0, number(kind));
        packet.memory().set(JAVA_INT, 4, correlation);
        packet.memory().set(JAVA_INT, 8, subject);
        return PacketSocket.send(socket, packet, 32, NO_DESCRIPTOR) == 0;
    }

    @Test
    void shouldCloseADescriptorThatComesWithAnErrorCode() throws Exception {
        var memory = SystemCalls.createMemory("with an error");
        SystemCalls.reserve(memory, BYTES);
        assertThat(connectTo(memory, BYTES, SCI_ERR_ACCESS())).isEqualTo("ACCESS");
        var before = count(DESCRIPTORS);

        for (var i = 0; i < 20; i++) {
            assertThat(connectTo(memory, BYTES, SCI_ERR_ACCESS())).isEqualTo("ACCESS");
        }

        assertThat(count(DESCRIPTORS)).isLessThan(before + 15);
        SystemCalls.close(memory);
    }

    /** A name of memory may have 249 bytes. */
    @Test
    void shouldShortenTheNameOfMemoryToWhatTheKernelAccepts() throws Exception {
        var memory = SystemCalls.createMemory("\u00e4\u8a9e".repeat(200));

        assertThat(target(DESCRIPTORS.resolve("" + memory))).contains("\u00e4\u8a9e");
        SystemCalls.close(memory);
    }

    private static void send(
            int socket,
            PacketSocket.Packet packet,
            Message.Kind kind,
            int correlation,
            int subject,
            int descriptor) {
        packet.memory().fill((byte) 0);
        packet.memory().set(JAVA_INT, 0, number(kind));
        packet.memory().set(JAVA_INT, 4, correlation);
        packet.memory().set(JAVA_INT, 8, subject);
        assertThat(PacketSocket.send(socket, packet, 32, descriptor)).isZero();
    }

    private static long count(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.count();
        }
    }
}
