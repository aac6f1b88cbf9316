package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.util.Optional;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GidTest {

    @ParameterizedTest
    @CsvSource({
        "00000000000000000000ffff0a4d0001, ::ffff:10.77.0.1, true, false",
        "00000000000000000000ffffffffffff, ::ffff:255.255.255.255, true, false",
        "fe80000000000000505400fffe123456, fe80:0000:0000:0000:5054:00ff:fe12:3456, false, true",
        "febf0000000000000000000000000001, febf:0000:0000:0000:0000:0000:0000:0001, false, true",
        "fec00000000000000000000000000001, fec0:0000:0000:0000:0000:0000:0000:0001, false, false",
        "20010db8000000000000ffff0a4d0001, 2001:0db8:0000:0000:0000:ffff:0a4d:0001, false, false",
        "00000000000000000001ffff0a4d0001, 0000:0000:0000:0000:0001:ffff:0a4d:0001, false, false"
    })
    void shouldParseHexadecimalDigitsAndDetermineTheKind(
            String digits, String text, boolean ipv4, boolean linkLocal) {
        var gid = Gid.parse(digits);

        assertThat(gid.toHexDigits()).isEqualTo(digits);
        assertThat(gid).hasToString(text);
        assertThat(gid.isIpv4()).isEqualTo(ipv4);
        assertThat(gid.isLinkLocal()).isEqualTo(linkLocal);
        assertThat(gid.isNone()).isFalse();
    }

    @Test
    void shouldParseUpperCaseDigits() {
        assertThat(Gid.parse("FE80000000000000505400FFFE123456"))
                .isEqualTo(new Gid(0xfe80_0000_0000_0000L, 0x5054_00ff_fe12_3456L));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "00",
                "fe80000000000000505400fffe12345",
                "fe80000000000000505400fffe1234567",
                "fe80000000000000505400fffe12345x",
                "fe80:0000:0000:0000:5054:00ff:fe"
            })
    void shouldRejectOtherText(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Gid.parse(text));
    }

    @Test
    void shouldHaveAZeroValue() {
        assertThat(Gid.NONE.isNone()).isTrue();
        assertThat(Gid.parse("00000000000000000000000000000000")).isEqualTo(Gid.NONE);
        assertThat(Gid.NONE.ipv4()).isEmpty();
    }

    @Test
    void shouldConvertFromAnIpv4AddressAndBack() throws Exception {
        var address = InetAddress.getByAddress(new byte[] {10, 77, 0, (byte) 200});

        var gid = Gid.of(address);

        assertThat(gid.toHexDigits()).isEqualTo("00000000000000000000ffff0a4d00c8");
        assertThat(gid.ipv4()).contains(address);
        assertThat(gid.toInetAddress()).isEqualTo(address);
    }

    @ParameterizedTest
    @CsvSource({
        "224.0.0.1, true",
        "239.255.1.2, true",
        "223.255.255.255, false",
        "240.0.0.1, false",
        "ff02::1, true",
        "ff15::77, true",
        "fe80::1, false",
        "2001:db8::1, false"
    })
    void shouldRecognizeMulticastAddresses(String address, boolean isGroup) throws Exception {
        assertThat(Gid.of(InetAddress.getByName(address)).isMulticast()).isEqualTo(isGroup);
        assertThat(Gid.NONE.isMulticast()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"10.77.0.1", "255.255.255.255", "2001:db8::1", "fe80::1", "ff15::77", "::"})
    void shouldConvertToTheAddressThatItWasMadeFrom(String literal) throws Exception {
        var address = InetAddress.getByName(literal);

        assertThat(Gid.of(address).toInetAddress()).isEqualTo(address);
    }

    @ParameterizedTest
    @CsvSource({
        "10.77.0.1, ROCE_V2, true",
        "2001:db8::1, ROCE_V2, true",
        "fe80::1, ROCE_V2, false",
        "10.77.0.1, ROCE_V1, false",
        "2001:db8::1, INFINIBAND, false",
        "10.77.0.1, UNKNOWN, false"
    })
    void shouldHaveAnAddressOnlyAsAGlobalRoceGid(
            String literal, GidEntry.Type type, boolean hasAddress) throws Exception {
        var address = InetAddress.getByName(literal);

        assertThat(new GidEntry(1, 0, Gid.of(address), type, "").ipAddress())
                .isEqualTo(hasAddress ? Optional.of(address) : Optional.empty());
    }

    @Test
    void shouldConvertFromAnIpv6Address() throws Exception {
        var gid = Gid.of(InetAddress.getByName("2001:db8::1"));

        assertThat(gid.toHexDigits()).isEqualTo("20010db8000000000000000000000001");
        assertThat(gid.ipv4()).isEmpty();
    }
}
