package org.jrdma.nvme.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CommandTest {

    private final MemorySegment memory = MemorySegment.ofArray(new long[16]);

    @Test
    void shouldEncodeEachFieldAtItsOffset() {
        new Command(1, 0x40, 0xabcd, 2, 3, 4, 5, 6, 7, 8, 9, 10).encode(memory, 64);
        var bytes = memory.asSlice(64, 64).toArray(JAVA_BYTE);
        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo(
                        "0140cdab02000000"
                                + "0000000000000000".repeat(2)
                                + "0300000000000000"
                                + "0400000000000000"
                                + "0500000006000000"
                                + "0700000008000000"
                                + "090000000a000000");
    }

    @Test
    void shouldDecodeTheEncodedCommand() {
        var command = new Command(0xff, 0xff, 0xffff, -1, -1, -1, -1, -1, -1, -1, -1, -1);
        command.encode(memory, 0);
        assertThat(Command.decode(memory, 0)).isEqualTo(command);
        assertThat(Command.decode(memory, 64)).isEqualTo(Command.admin(0));
    }

    @Test
    void shouldReplaceEveryByteOfAnEarlierCommand() {
        memory.fill((byte) 0xff);
        Command.admin(AdminOpcode.IDENTIFY).encode(memory, 0);
        assertThat(Command.decode(memory, 0)).isEqualTo(Command.admin(AdminOpcode.IDENTIFY));
        var bytes = memory.asSlice(8, 56).toArray(JAVA_BYTE);
        assertThat(bytes).isEqualTo(new byte[56]);
    }

    @Test
    void shouldDescribeBlocks() {
        var command = Command.blocks(IoOpcode.READ, 1, 0x1_0000_0002L, 65_536);
        assertThat(command.firstBlock()).isEqualTo(0x1_0000_0002L);
        assertThat(command.blocks()).isEqualTo(65_536);
        Command.encodeBlocks(
                memory, 0, IoOpcode.READ, 0, 1, 0, 0, 0x1_0000_0002L, command.dword12());
        assertThat(Command.decode(memory, 0)).isEqualTo(command);
    }

    @Test
    void shouldEncodeACompletion() {
        var completion = new Completion(0x1234_5678, 0xfffe, 0xffff, 0xabcd, 1, 0x7fff);
        completion.encode(memory, 16);
        assertThat(Completion.decode(memory, 16)).isEqualTo(completion);
        var last = new Completion(0, 0, 0, 7, 1, Status.LBA_OUT_OF_RANGE.encode());
        last.encode(memory, 16);
        assertThat(memory.get(Fields.INT, 28)).isEqualTo(0x8101_0007);
        assertThat(Completion.decode(memory, 0)).isEqualTo(new Completion(0, 0, 0, 0, 0, 0));
    }

    @Test
    void shouldFindEachStatusByItsCode() {
        for (var status : Status.values()) {
            assertThat(Stream.of(Status.of(status.encode()), Status.ofFabrics(status.encode())))
                    .contains(Optional.of(status));
        }
        assertThat(Status.of(0x7ff)).isEmpty();
        assertThat(Status.describe(0x7ff)).isEqualTo("unknown status (0x7ff)");
        assertThat(Status.describe(Status.INVALID_QUEUE_ID.encode()))
                .isEqualTo("invalid queue id (0x101)");
        assertThat(Status.isRetryUseless(Status.INVALID_QUEUE_ID.encode())).isTrue();
        assertThat(Status.isRetryUseless(Status.WRITE_FAULT.encode())).isFalse();
    }

    @Test
    void shouldEncodeAnEvent() {
        assertThat(AsyncEvent.RESERVATION.encode()).isEqualTo(0x80_0006);
        assertThat(AsyncEvent.decode(0x80_0006)).isEqualTo(AsyncEvent.RESERVATION);
        assertThat(AsyncEvent.decode(-1)).isEqualTo(new AsyncEvent(7, 255, 255));
    }
}
