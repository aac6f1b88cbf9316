package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Optional;
import java.util.Random;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.FabricsDataPointer;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Made-up capsules of one host, while another host does verified I/O. */
class TargetFuzzTest extends TargetTestBase {

    private static final int BLOCK_BYTES = 512;
    private static final Optional<Status> INTERNAL_ERROR = Optional.of(Status.INTERNAL_ERROR);
    private static final int OWN_BLOCK = 4000;

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

    private void run(long seed, int capsules) throws IOException {
        var random = new Random(seed);
        var connections = 0;
        try (var _ = admin();
                var verified = io(1)) {
            var sent = 0;
            while (sent < capsules) {
                var isAdmin = random.nextInt(4) == 0;
                try (var hostile = hostile(isAdmin)) {
                    connections++;
                    var limit = Math.min(capsules, sent + 200);
                    while (sent < limit && send(hostile, random, isAdmin)) {
                        sent++;
                        if (sent % 50 == 0) {
                            verify(verified, sent);
                        }
                    }
                    sent++;
                }
            }
            verify(verified, capsules);
        }
        assertThat(connections).isPositive();
        assertThat(target.failures()).isZero();
        Harness.await(() -> target.connections() == 0);
        admin().close();
    }

    /** Returns a queue of another controller than the first one, which may be connected or not. */
    private UncheckedHostQueue hostile(boolean isAdmin) throws IOException {
        return isAdmin
                ? UncheckedHostQueue.queue(manager, domain, address, 0, 0)
                : io(2 + (int) (System.nanoTime() % 3));
    }

    /** Sends a capsule, and returns false if the target has disconnected. */
    private static boolean send(UncheckedHostQueue host, Random random, boolean isAdmin)
            throws IOException {
        var command =
                new Command(
                        opcode(random, isAdmin),
                        random.nextInt(20) == 0 ? random.nextInt(256) : FabricsDataPointer.FLAGS,
                        random.nextInt(0x10000),
                        random.nextInt(4),
                        0,
                        0,
                        random.nextInt(8),
                        0,
                        random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(16),
                        random.nextInt(4),
                        0,
                        0);
        var flags = command.flags();
        var extra = random.nextInt(3) == 0 && !isAdmin ? random.nextInt(4097) : 0;
        var pointer =
                switch (random.nextInt(40)) {
                    case 0 -> new FabricsDataPointer(random.nextInt(256), random.nextLong(), 64, 0);
                    case 1, 2, 3, 4 ->
                            new FabricsDataPointer(
                                    FabricsDataPointer.IN_CAPSULE,
                                    random.nextInt(8192) - 4096,
                                    random.nextInt(8192) - 4096,
                                    0);
                    case 5 ->
                            new FabricsDataPointer(
                                    FabricsDataPointer.KEYED, 0, 512, random.nextInt());
                    default -> host.keyed(random.nextInt(UncheckedHostQueue.DATA_BYTES));
                };
        try {
            if (random.nextInt(200) == 0) {
                host.sendCapsule(random.nextInt(Command.BYTES));
            } else {
                host.send(pointer.encode(command).withFlags(flags), extra);
            }
            if (command.opcode() == AdminOpcode.ASYNC_EVENT_REQUEST && isAdmin) {
                return true;
            }
            var response = host.receive();
            response.ifPresent(
                    each -> assertThat(Status.of(each.status())).isNotEqualTo(INTERNAL_ERROR));
            return response.isPresent();
        } catch (IOException _) {
            return false; // disconnected
        }
    }

    private static int opcode(Random random, boolean isAdmin) {
        if (random.nextInt(4) == 0) {
            return random.nextInt(256);
        }
        var known =
                isAdmin
                        ? new int[] {0x7f, 0x02, 0x06, 0x09, 0x0a, 0x08, 0x18}
                        : new int[] {0x7f, 0, 1, 2, 8, 9, 0x0d, 0x0e, 0x11, 0x15};
        var opcode = known[random.nextInt(known.length)];
        // writes stay away from the blocks of the other host, because both may write them
        return !isAdmin && (opcode == IoOpcode.WRITE_ZEROES || opcode == 9 || opcode == 0x11)
                ? IoOpcode.READ
                : opcode;
    }

    private static void verify(UncheckedHostQueue host, int value) throws IOException {
        var write = Command.blocks(IoOpcode.WRITE, 1, OWN_BLOCK, 8);
        host.data().asSlice(0, 8 * BLOCK_BYTES).fill((byte) value);
        assertThat(host.status(write, host.keyed(8 * BLOCK_BYTES))).isEqualTo(Status.SUCCESS);
        host.data().asSlice(0, 8 * BLOCK_BYTES).fill((byte) ~value);
        var read = Command.blocks(IoOpcode.READ, 1, OWN_BLOCK, 8);
        assertThat(host.status(read, host.keyed(8 * BLOCK_BYTES))).isEqualTo(Status.SUCCESS);
        for (var i = 0; i < 8 * BLOCK_BYTES; i++) {
            assertThat(host.data().get(JAVA_BYTE, i)).isEqualTo((byte) value);
        }
    }
}
