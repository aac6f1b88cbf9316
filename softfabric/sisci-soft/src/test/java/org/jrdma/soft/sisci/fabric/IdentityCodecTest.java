package org.jrdma.soft.sisci.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.junit.jupiter.api.Test;

class IdentityCodecTest {

    private static final DeviceIdentity IDENTITY =
            new DeviceIdentity(0xFFFF, 2, 0xFFFFFF, 3, 4, -1, "a name");

    @Test
    void shouldDecodeWhatItEncoded() {
        assertThat(IdentityCodec.decode(IdentityCodec.encode(IDENTITY))).contains(IDENTITY);
    }

    @Test
    void shouldRejectMalformedData() {
        var valid = IdentityCodec.encode(IDENTITY);
        for (var length = 0; length < 28; length++) {
            assertThat(IdentityCodec.decode(Arrays.copyOf(valid, length))).isEmpty();
        }
        var invalidVendor = valid.clone();
        invalidVendor[0] = 1;
        assertThat(IdentityCodec.decode(invalidVendor)).isEmpty();
        var invalidName = valid.clone();
        invalidName[28] = '\n';
        assertThat(IdentityCodec.decode(invalidName)).isEmpty();
        assertThat(IdentityCodec.decode(Arrays.copyOf(valid, 4096))).isEmpty();
    }
}
