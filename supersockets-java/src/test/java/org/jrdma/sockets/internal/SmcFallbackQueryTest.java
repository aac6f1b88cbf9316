package org.jrdma.sockets.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Test;

/**
 * Tests the decoder with responses that were recorded from a Linux 7.3 kernel (User-Mode Linux).
 */
class SmcFallbackQueryTest {

    /**
     * A response with four sockets: three that use TCP, each for another reason, and a listener.
     */
    private static final String SOCKETS =
            """
            640000001400020001000000570000002b010100966e1b597f000001000000000000000000000000
            7f000001000000000000000000000000000000000100000000000000000000005100000000000000
            05000300000000000c0005000000010300000000640000001400020001000000570000002b010100
            1b589b2a7f0000010000000000000000000000007f00000100000000000000000000000000000000
            0200000000000000000000002b0400000000000005000300000000000c0005000800030300000000
            640000001400020001000000570000002b0101009b2a1b587f000001000000000000000000000000
            7f000001000000000000000000000000000000000300000000000000000000004c00000000000000
            05000300000000000c0005000000000508000303640000001400020001000000570000002b0a0000
            1b5800007f0000010000000000000000000000000000000000000000000000000000000000000000
            0400000000000000000000004a0000000000000005000300000000000c0005000000000000000000
            """;

    private static final String END = "1400000003000200010000005700000000000000";

    private static ByteBuffer bytes(String hex) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex.replaceAll("\\s", "")))
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void shouldReportWhichSocketsUseTcpAndWhy() throws Exception {
        var found = new HashMap<Long, String>();

        assertThat(SmcFallbackQuery.decode(bytes(SOCKETS), found)).isTrue();
        assertThat(SmcFallbackQuery.decode(bytes(END), found)).isFalse();

        assertThat(found)
                .containsOnly(
                        Map.entry(81L, "the peer has no SMC (0x03010000)"),
                        Map.entry(1067L, "the two hosts have no UEID in common (0x03030008)"),
                        Map.entry(
                                76L,
                                "the peer declined (0x05000000): the two hosts have no UEID in common (0x03030008)"));
    }

    @Test
    void shouldOmitSocketsThatUseRdma() throws Exception {
        var response = bytes(SOCKETS);
        for (var mode : new int[] {18, 118, 218}) {
            assertThat(response.get(mode)).isEqualTo((byte) 1);
            response.put(mode, (byte) (mode == 18 ? 2 : 0)); // SMC-D, SMC-R
        }
        var found = new HashMap<Long, String>();

        SmcFallbackQuery.decode(response, found);

        assertThat(found).isEmpty();
    }

    @Test
    void shouldReportTheCodeOfAnUnknownReason() throws Exception {
        var found = new HashMap<Long, String>();

        SmcFallbackQuery.decode(bytes(SOCKETS.replaceFirst("00000103", "efbe0903")), found);

        assertThat(found).containsEntry(81L, "reason 0x0309beef");
    }

    @Test
    void shouldRejectAnErrorResponse() {
        var error = bytes("240000000200000001000000570000" + "00" + "feffffff" + "00".repeat(16));

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> SmcFallbackQuery.decode(error, new HashMap<>()))
                .withMessage(
                        "Cannot query the SMC sockets of the kernel: sock_diag failed: ENOENT (2)");
    }

    @Test
    void shouldRejectATruncatedResponse() {
        var truncated = bytes(SOCKETS).limit(150);

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> SmcFallbackQuery.decode(truncated, new HashMap<>()))
                .withMessage(
                        "Truncated sock_diag response: 150 bytes end within a message of 100 bytes");
    }

    @Test
    void shouldReportNothingForASocketThatTheKernelDoesNotKnow() {
        var descriptor = SocketCalls.socket(SocketCalls.AF_INET, SocketCalls.SOCK_STREAM, 0);
        try {
            assertThat(new SmcFallbackQuery().whyOverTcp(descriptor)).isEmpty();
        } finally {
            SocketCalls.close(descriptor);
        }
    }
}
