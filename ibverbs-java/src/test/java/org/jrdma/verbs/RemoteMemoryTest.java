package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jrdma.verbs.model.RemoteMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RemoteMemoryTest {

    private static final RemoteMemory MEMORY =
            new RemoteMemory(0x7f12_3456_7000L, 0x8001_02ff, 65_536);

    @Test
    void shouldEncodeAsTwentyBytesInNetworkOrder() {
        assertThat(HexFormat.of().formatHex(MEMORY.toBytes()))
                .isEqualTo("00007f1234567000" + "800102ff" + "0000000000010000");
        assertThat(MEMORY.toBytes()).hasSize(RemoteMemory.BYTES);
    }

    @Test
    void shouldDecodeFromThePositionOfABuffer() {
        var buffer = ByteBuffer.allocate(24).putInt(4711).put(MEMORY.toBytes()).position(4);

        assertThat(RemoteMemory.from(buffer)).isEqualTo(MEMORY);
        assertThat(buffer.hasRemaining()).isFalse();
    }

    @Test
    void shouldRejectTooFewBytes() {
        assertThatExceptionOfType(BufferUnderflowException.class)
                .isThrownBy(() -> RemoteMemory.from(ByteBuffer.allocate(19)));
    }

    @Test
    void shouldConvertToTextAndBack() {
        assertThat(MEMORY).hasToString("00007f1234567000:800102ff:10000");
        assertThat(RemoteMemory.parse("00007f1234567000:800102ff:10000")).isEqualTo(MEMORY);
    }

    @Test
    void shouldConvertAddressesWithTheHighestBitSet() {
        var high = new RemoteMemory(0xffff_8000_0000_0000L, -1, 1);

        assertThat(high).hasToString("ffff800000000000:ffffffff:1");
        assertThat(RemoteMemory.parse(high.toString())).isEqualTo(high);
        assertThat(RemoteMemory.from(ByteBuffer.wrap(high.toBytes()))).isEqualTo(high);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1:2",
                "1:2:3:4",
                "x:2:3",
                "1:100000000:3",
                "1:2:",
                "1:2:ffffffffffffffff"
            })
    void shouldRejectOtherText(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> RemoteMemory.parse(text));
    }

    @Test
    void shouldRejectANegativeLength() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RemoteMemory(0, 0, -1))
                .withMessage("The length must not be negative: -1");
    }

    @Test
    void shouldSliceWithTheSameKey() {
        assertThat(MEMORY.slice(0x100, 16))
                .isEqualTo(new RemoteMemory(0x7f12_3456_7100L, 0x8001_02ff, 16));
        assertThat(MEMORY.slice(0, 65_536)).isEqualTo(MEMORY);
        assertThat(MEMORY.slice(65_536, 0).length()).isZero();
    }

    @Test
    void shouldSliceFromAnOffset() {
        assertThat(MEMORY.at(65_532))
                .isEqualTo(new RemoteMemory(0x7f12_3457_6ffcL, 0x8001_02ff, 4));
        assertThat(MEMORY.at(65_536).length()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 1",
        "0, -1",
        "0, 65537",
        "65536, 1",
        "65537, 0",
        "9223372036854775807, 1",
        "1, 9223372036854775807"
    })
    void shouldRejectASliceBeyondTheMemory(long offset, long length) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> MEMORY.slice(offset, length));
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 65_537, Long.MIN_VALUE, Long.MAX_VALUE})
    void shouldRejectAnOffsetBeyondTheMemory(long offset) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> MEMORY.at(offset));
    }
}
