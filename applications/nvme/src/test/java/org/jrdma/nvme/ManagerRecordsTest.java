package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Random;
import org.jrdma.nvme.model.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the records between a manager and its clients. */
class ManagerRecordsTest {

    private static final QueueMemory MEMORY = new QueueMemory(0x1000, 64, 0x2000, 64);

    private static ByteBuffer encode(ManagerRequest request) {
        var record = ByteBuffer.allocate(ManagerRequest.BYTES);
        request.encode(record);
        return record.flip();
    }

    @Test
    void shouldDecodeWhatItEncodes() throws Exception {
        for (var request :
                new ManagerRequest[] {
                    new ManagerRequest.ReadPage(AdminPageKind.SMART, -1),
                    new ManagerRequest.CreateQueue(MEMORY),
                    new ManagerRequest.DeleteQueue(7),
                    new ManagerRequest.DeleteAllQueues()
                }) {
            assertThat(ManagerRequest.decode(encode(request))).isEqualTo(request);
        }
        var record = ByteBuffer.allocate(ManagerReply.BYTES);
        ManagerReply.failure("refused", 2).encode(record);
        var reply = ManagerReply.decode(record.flip());
        assertThatThrownBy(reply::requireSuccess)
                .isInstanceOf(NvmeException.class)
                .hasMessage("refused");
    }

    @Test
    void shouldRejectMalformedRecords() {
        for (var offset : new int[] {0, 4, 16, 31}) {
            var record = encode(new ManagerRequest.ReadPage(AdminPageKind.SMART, 0));
            record.put(offset, (byte) 0x55);
            assertThat(ManagerRequest.decode(record)).as("byte %d", offset).isNull();
        }
        var unknownPage = encode(new ManagerRequest.ReadPage(AdminPageKind.SMART, 0));
        unknownPage.putInt(8, AdminPageKind.values().length);
        assertThat(ManagerRequest.decode(unknownPage)).isNull();
        unknownPage.rewind().putInt(8, -1);
        assertThat(ManagerRequest.decode(unknownPage)).isNull();
        var reply = ByteBuffer.allocate(ManagerReply.BYTES).putInt(8, Configuration.PAGE_BYTES + 1);
        assertThatThrownBy(() -> ManagerReply.decode(reply)).hasMessageContaining("malformed");
    }

    @Test
    void shouldDecodeAnyBytesWithoutAnException() {
        var random = new Random(1);
        var bytes = new byte[ManagerRequest.BYTES];
        var accepted = 0;
        for (var round = 0; round < 100_000; round++) {
            random.nextBytes(bytes);
            var record = ByteBuffer.wrap(bytes);
            record.putInt(0, ManagerRequest.MAGIC).putInt(4, random.nextInt(6));
            if (ManagerRequest.decode(record) instanceof ManagerRequest.CreateQueue(var memory)) {
                accepted++;
                assertThat(memory.isValid(1024) && memory.submissionEntries() > 1024).isFalse();
            }
        }
        assertThat(accepted).isPositive();
    }

    @ParameterizedTest
    @CsvSource({
        "0x1000, 2, 0x2000, 2, true",
        "0x1000, 1024, 0x11000, 1024, true",
        "0x2000, 2, 0x1000, 256, true",
        "0x1000, 1, 0x2000, 2, false",
        "0x1000, 2, 0x2000, 1, false",
        "0x1000, 1025, 0x20000, 2, false",
        "0x1000, 2, 0x20000, 1025, false",
        "0x1000, -2, 0x2000, 2, false",
        "0, 2, 0x2000, 2, false",
        "0x1000, 2, 0, 2, false",
        "0x1008, 2, 0x2000, 2, false",
        "0x1000, 2, 0x2004, 2, false",
        "0x1000, 65, 0x2000, 2, false",
        "0x2000, 2, 0x1000, 257, false",
        "0x1000, 2, 0x1000, 2, false",
        "-4096, 64, 0x2000, 2, true",
        "-4096, 65, 0x2000, 2, false"
    })
    void shouldCheckTheMemoryOfQueues(
            long submissions,
            int submissionEntries,
            long completions,
            int completionEntries,
            boolean isValid) {
        var memory =
                new QueueMemory(submissions, submissionEntries, completions, completionEntries);
        assertThat(memory.isValid(1024)).isEqualTo(isValid);
    }

    @Test
    void shouldDetectQueuesThatOverlapOtherQueues() {
        assertThat(MEMORY.overlaps(MEMORY)).isTrue();
        assertThat(MEMORY.overlaps(new QueueMemory(0x3000, 64, 0x4000, 64))).isFalse();
        assertThat(MEMORY.overlaps(new QueueMemory(0x3000, 64, 0x1000, 64))).isTrue();
        assertThat(MEMORY.overlaps(new QueueMemory(0x2000, 64, 0x4000, 64))).isTrue();
        assertThat(new QueueMemory(0x8000, 64, 0, 512).overlaps(MEMORY)).isTrue();
    }
}
