package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.FabricsCommand.Connect;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.ResponseCapsule;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.MadeUpCapsules.Capsule;
import org.jrdma.nvme.soft.MadeUpCapsules.Effect;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Made-up capsules of one host, several of them at a time, while another host does verified I/O.
 * Each capsule must have its documented effect, and no resource must remain.
 */
class TargetFuzzTest extends TargetTestBase {

    private static final int BLOCK_BYTES = 512;
    private static final int OWN_BLOCK = MadeUpCapsules.FIRST_FOREIGN_BLOCK;
    private static final int IO_QUEUES = 64;
    private static final int CAPSULES_PER_CONTROLLER = 400;
    private static final int CAPSULES_AT_A_TIME = 16;
    private static final long RELEASE_NANOS = 20_000_000_000L;
    private static final String HOST_NAME = "nqn.2014-08.org.jrdma:hostile-host";
    private static final HostIdentifier HOST = new HostIdentifier(26, 8, true);

    private final BlockStorage hostileStorage = Harness.storage();
    private final Map<Status, Integer> statuses = new EnumMap<>(Status.class);
    private Random random;
    private MadeUpCapsules capsules;
    private UncheckedHostQueue verified;
    private int sent;
    private int lastQueueId;

    /** The resources of this process that hosts cause the target to hold. */
    private record Resources(Map<String, Long> objects, long descriptors, long threads) {}

    @Override
    TargetOptions options() {
        return OPTIONS.maxConnections(64).ioQueues(IO_QUEUES);
    }

    @BeforeEach
    void addHostileNamespace() {
        var _ = subsystem.addNamespace(hostileStorage);
    }

    @AfterEach
    void closeHostileNamespace() {
        hostileStorage.close();
    }

    @Test
    void shouldServeAHostWhileAnotherOneMakesUpCapsules() throws Exception {
        run(1, 1000);
    }

    @Test
    @Tag("slow")
    @Timeout(600)
    void shouldServeAHostThrough100000MadeUpCapsules() throws Exception {
        run(2, 100_000);
    }

    private void run(long seed, int count) throws Exception {
        random = new Random(seed);
        capsules = new MadeUpCapsules(random);
        try (var _ = admin()) {
            verified = io(1);
            attack(10);
            Harness.await(() -> target.connections() == 2);
            var before = resources();

            while (sent < count) {
                attack(Math.min(CAPSULES_PER_CONTROLLER, count - sent));
                refuseConnections();
            }

            assertThat(statuses.keySet()).containsAll(MadeUpCapsules.DOCUMENTED);
            assertThat(statuses.get(Status.SUCCESS)).isGreaterThan(count / 5);
            verify();
            Harness.await(() -> target.connections() == 2);
            var end = System.nanoTime() + RELEASE_NANOS;
            while (!resources().equals(before) && System.nanoTime() < end) {
                Thread.sleep(20);
            }
            assertThat(resources()).isEqualTo(before);
            verified.close();
        }
        assertThat(target.failures()).isZero();
        Harness.await(() -> target.connections() == 0);
        admin().close();
    }

    private Resources resources() {
        var objects =
                Stream.of(library.openDevices(), manager.openIdentifiers())
                        .flatMap(Collection::stream)
                        .flatMap(TargetFuzzTest::withDependents)
                        .distinct()
                        .collect(
                                Collectors.groupingBy(TargetFuzzTest::kind, Collectors.counting()));
        var threads =
                Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().startsWith("jrdma-nvme"))
                        .count();
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return new Resources(objects, descriptors.count(), threads);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<Lifetime> withDependents(Lifetime lifetime) {
        return Stream.concat(
                Stream.of(lifetime),
                lifetime.dependents().stream().flatMap(TargetFuzzTest::withDependents));
    }

    /** Returns the name of an object without its numbers. */
    private static String kind(Lifetime lifetime) {
        return lifetime.toString().replaceAll("[0-9][0-9a-fx,]*", "N");
    }

    /** Sends capsules to a new controller, and closes its queues. */
    private void attack(int count) throws IOException {
        var end = sent + count;
        var queues = new ArrayList<HostileQueue>();
        try {
            var admin = new HostileQueue(0, 0);
            queues.add(admin);
            admin.connect(ConnectData.ANY_CONTROLLER);
            admin.queue.enable();
            while (sent < end) {
                while (queues.size() < 3) {
                    queues.add(new HostileQueue(nextQueueId(), admin.controllerId));
                    queues.getLast().connect(admin.controllerId);
                }
                var queue = queues.get(random.nextInt(queues.size()));
                var effect = queue.send(1 + random.nextInt(CAPSULES_AT_A_TIME));
                verify();
                queue.receive(effect);
                if (effect == Effect.DISCONNECT) {
                    queue.close();
                    queues.remove(queue);
                }
                if (effect == Effect.RESET || !queues.contains(admin)) {
                    for (var io : queues) {
                        if (io != admin) {
                            io.receive(Effect.DISCONNECT);
                        }
                    }
                    return;
                }
            }
        } finally {
            queues.forEach(HostileQueue::close);
        }
    }

    private int nextQueueId() {
        lastQueueId = lastQueueId % IO_QUEUES + 1;
        return lastQueueId;
    }

    /** A queue of the hostile host, with the capsules that await a response. */
    private final class HostileQueue implements AutoCloseable {

        final UncheckedHostQueue queue;
        final int id;
        final Map<Integer, Capsule> pending = new HashMap<>();
        int controllerId;
        boolean isConnected;

        /** True if commands may be refused, because the controller is not ready. */
        boolean mayRefuse = true;

        HostileQueue(int id, int controllerId) throws IOException {
            this.id = id;
            this.queue = UncheckedHostQueue.queue(manager, domain, address, id, controllerId);
        }

        void connect(int controller) throws IOException {
            var response =
                    queue.connect(
                            new Connect(0, id, 32, 0, 0),
                            new ConnectData(HOST, controller, NAME, HOST_NAME));
            assertThat(response.status()).isZero();
            controllerId = (int) response.result() & 0xffff;
            isConnected = true;
            mayRefuse = false;
        }

        /** Sends capsules until one ends the connection, and returns the effect of the last one. */
        Effect send(int count) throws IOException {
            for (var i = 0; i < count; i++) {
                var capsule = nextCapsule();
                var commandId = random.nextInt(0x10000);
                while (pending.putIfAbsent(commandId, capsule) != null) {
                    commandId = random.nextInt(0x10000);
                }
                queue.post(capsule.command().withId(commandId), capsule.bytes());
                sent++;
                if (capsule.effect() == Effect.DISCONNECT || capsule.effect() == Effect.RESET) {
                    mayRefuse = true;
                    return capsule.effect();
                }
            }
            return Effect.RESPONSE;
        }

        private Capsule nextCapsule() {
            var capsule = id == 0 ? capsules.forAdmin(queue) : capsules.forIo(queue);
            while (!isConnected && capsule.effect() == Effect.DISCONNECT) { // may be refused
                capsule = capsules.forAdmin(queue);
            }
            return capsule;
        }

        /** Checks all responses, in any order, and the end of the connection. */
        void receive(Effect effect) throws IOException {
            var response = next(effect);
            while (response != null) {
                check(response);
                response = next(effect);
            }
        }

        private @Nullable ResponseCapsule next(Effect effect) throws IOException {
            if (effect == Effect.DISCONNECT) {
                return queue.receive().orElse(null);
            }
            return pending.values().stream().allMatch(this::isOptional)
                    ? null
                    : queue.receive().orElseThrow();
        }

        private boolean isOptional(Capsule capsule) {
            return isConnected && capsule.effect() == Effect.EVENT_REQUEST;
        }

        private void check(ResponseCapsule response) {
            var capsule = pending.remove(response.commandId());
            assertThat(capsule).as("The command of %s", response).isNotNull();
            assertThat(capsule.effect()).isNotEqualTo(Effect.DISCONNECT);
            var status =
                    capsule.isFabrics()
                            ? Status.ofFabrics(response.status())
                            : Status.of(response.status());
            assertThat(status).as("%s", capsule).isPresent();
            var found = status.orElseThrow();
            if (!isConnected) {
                assertThat(found).as("%s", capsule).isNotEqualTo(Status.SUCCESS);
            }
            var isRefused =
                    mayRefuse
                            && (found == Status.COMMAND_SEQUENCE_ERROR
                                    || found == Status.CONNECT_PARAMETERS);
            if (capsule.expected().isEmpty()) {
                assertThat(found).as("%s", capsule).isNotEqualTo(Status.INTERNAL_ERROR);
            } else if (!isRefused) {
                assertThat(found).as("%s", capsule).isIn(capsule.expected());
                var _ = statuses.merge(found, 1, Integer::sum);
            }
        }

        @Override
        public void close() {
            queue.close();
        }
    }

    /** Sends capsules before the Connect command, and Connect commands with made-up data. */
    private void refuseConnections() throws IOException {
        try (var admin = new HostileQueue(0, 0)) {
            admin.receive(admin.send(1 + random.nextInt(CAPSULES_AT_A_TIME)));
            assertThat(connectWithChangedData(admin.queue))
                    .isIn(Status.SUCCESS, Status.CONNECT_PARAMETERS);
        }
        try (var io = new HostileQueue(nextQueueId(), 1)) { // of the controller of the other host
            var data = new ConnectData(HOST, 1, NAME, HOST_NAME);
            assertThat(
                            UncheckedHostQueue.fabricsStatus(
                                    io.queue.connect(new Connect(0, io.id, 32, 0, 0), data)))
                    .isEqualTo(Status.CONNECT_PARAMETERS);
        }
    }

    private Status connectWithChangedData(UncheckedHostQueue admin) throws IOException {
        var bytes = admin.data().asSlice(0, ConnectData.BYTES).fill((byte) 0);
        new ConnectData(HOST, ConnectData.ANY_CONTROLLER, NAME, HOST_NAME).encode(bytes);
        bytes.set(JAVA_BYTE, random.nextInt(ConnectData.BYTES), (byte) random.nextInt());
        return UncheckedHostQueue.fabricsStatus(
                admin.execute(
                        new Connect(0, 0, 32, 0, 0).encode(), admin.keyed(ConnectData.BYTES)));
    }

    /** Writes and reads blocks of the other host. */
    private void verify() throws IOException {
        var bytes = 8 * BLOCK_BYTES;
        var value = (byte) sent;
        var write = Command.blocks(IoOpcode.WRITE, 1, OWN_BLOCK, 8);
        verified.data().asSlice(0, bytes).fill(value);
        assertThat(verified.status(write, verified.keyed(bytes))).isEqualTo(Status.SUCCESS);
        verified.data().asSlice(0, bytes).fill((byte) ~value);
        var read = Command.blocks(IoOpcode.READ, 1, OWN_BLOCK, 8);
        assertThat(verified.status(read, verified.keyed(bytes))).isEqualTo(Status.SUCCESS);
        for (var i = 0; i < bytes; i++) {
            if (verified.data().get(JAVA_BYTE, i) != value) {
                throw new AssertionError("Byte %d has changed".formatted(i));
            }
        }
    }
}
