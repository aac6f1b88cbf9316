package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.HexFormat;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GlobalRouteHeaderTest {

    private static final String IPV6 =
            "6b812345"
                    + "0020"
                    + "11"
                    + "3f" // version 6, class b8, label 12345; 32 bytes of UDP; 63 hops
                    + "fe80000000000000505400fffe123456"
                    + "20010db8000000000000000000000001";

    /** An IPv4 header with the checksum 0x247f. */
    private static final String IPV4 =
            "45b80054" + "00004000" + "4011247f" + "0a4d0001" + "0a4d00c8";

    private static MemorySegment received(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex + "00".repeat(8)));
    }

    private static Gid gid(String address) throws Exception {
        return Gid.of(InetAddress.getByName(address));
    }

    @Test
    void shouldReadAnIpv6Header() throws Exception {
        assertThat(GlobalRouteHeader.of(received(IPV6)))
                .isEqualTo(
                        new GlobalRouteHeader(
                                gid("fe80::5054:ff:fe12:3456"),
                                gid("2001:db8::1"),
                                0xb8,
                                0x12345,
                                63));
    }

    /**
     * An IPv4 header follows 20 undefined bytes. The reader must not mistake them for a header,
     * even if they begin like an IPv4 or IPv6 header.
     */
    @ParameterizedTest
    @ValueSource(strings = {"00", "45", "60", "ff"})
    void shouldReadAnIpv4HeaderAfterArbitraryBytes(String before) throws Exception {
        assertThat(GlobalRouteHeader.of(received(before.repeat(20) + IPV4)))
                .isEqualTo(
                        new GlobalRouteHeader(gid("10.77.0.1"), gid("10.77.0.200"), 0xb8, 0, 64));
    }

    /** A host that sends to itself may omit the checksum. */
    @Test
    void shouldReadAnIpv4HeaderWithoutAChecksum() throws Exception {
        var header = "00".repeat(20) + IPV4.replace("247f", "0000");

        assertThat(GlobalRouteHeader.of(received(header)).source()).isEqualTo(gid("10.77.0.1"));
    }

    @Test
    void shouldNotMistakeAnIpv6AddressForAnIpv4Header() throws Exception {
        var header = IPV6.replace("fe80000000000000505400ff", "fe8000000000000050540045");

        assertThat(header).isNotEqualTo(IPV6);
        assertThat(GlobalRouteHeader.of(received(header)).destination())
                .isEqualTo(gid("2001:db8::1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"00", "5a", "ff"})
    void shouldRejectBytesThatAreNotAHeader(String value) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GlobalRouteHeader.of(received(value.repeat(40))))
                .withMessageContaining("No global route header");
    }

    @Test
    void shouldRejectTooFewBytes() {
        var bytes = MemorySegment.ofArray(new byte[GlobalRouteHeader.BYTES - 1]);

        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> GlobalRouteHeader.of(bytes));
    }
}
