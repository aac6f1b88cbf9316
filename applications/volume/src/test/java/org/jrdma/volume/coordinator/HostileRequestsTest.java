package org.jrdma.volume.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.metadata.VolumeCheck;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.PeerConnection;
import org.jrdma.volume.protocol.RequestHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a coordinator with random and damaged requests. */
class HostileRequestsTest {

    private static final int REQUESTS = Boolean.getBoolean("jrdma.test.quick") ? 3000 : 100_000;

    private static final List<Operation> OPERATIONS = List.of(Operation.values());

    /** The operations that wait, or end the session. */
    private static final List<Operation> OMITTED =
            List.of(Operation.LOCK, Operation.LEASE, Operation.GOODBYE, Operation.HELLO);

    private static final PeerConnection SILENT =
            (_, _) -> {
                throw new VolumeException("The client does not respond");
            };

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);

    @Test
    @Timeout(120)
    void shouldAnswerEveryRequestAndKeepTheVolumeConsistent() throws FabricException {
        System.out.println("Seed: " + seed);
        var drive = new MemoryDrive(4096);
        var _ = VolumeFormatter.create(drive);
        var sent = 0L;
        try (var coordinator =
                new Coordinator(drive, Fence.BY_CLOCK, 1, Duration.ofSeconds(60), () -> {})) {
            var session = TestClient.open(coordinator, SILENT).session();
            for (var i = 0; i < REQUESTS; i++) {
                var operation = OPERATIONS.get(random.nextInt(OPERATIONS.size()));
                if (!OMITTED.contains(operation)) {
                    var encoder = new RequestHeader(operation, session, i + 1, i).encoder();
                    encodeBody(encoder);
                    var reply =
                            coordinator.handle(SILENT, ByteBuffer.wrap(damaged(encoder.bytes())));
                    assertThat(reply.remaining()).as("seed %d", seed).isPositive();
                    sent++;
                }
            }
            assertThat(coordinator.ended()).as("seed %d", seed).isNotDone();
        }
        assertThat(sent).isGreaterThan(REQUESTS / 2);
        assertThat(VolumeCheck.run(drive).problems()).as("seed %d", seed).isEmpty();
    }

    /** Writes a path that often exists, or random values. */
    private void encodeBody(Encoder encoder) throws VolumeException {
        if (random.nextBoolean()) {
            FilePath.of("/" + random.nextInt(3)).encode(encoder);
            if (random.nextBoolean()) {
                FilePath.of("/" + random.nextInt(3)).encode(encoder);
            }
        }
        for (var i = random.nextInt(6); i > 0; i--) {
            switch (random.nextInt(4)) {
                case 0 -> encoder.writeLong(random.nextInt(5));
                case 1 -> encoder.writeInt(random.nextInt(5));
                case 2 -> encoder.writeByte(random.nextInt(3));
                default -> encoder.writeLong(random.nextLong());
            }
        }
    }

    private byte[] damaged(byte[] bytes) {
        if (random.nextInt(4) == 0) {
            bytes[25 + random.nextInt(bytes.length - 24) - 1] ^= (byte) (1 << random.nextInt(8));
        }
        return random.nextInt(8) == 0
                ? java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length + 1))
                : bytes;
    }
}
