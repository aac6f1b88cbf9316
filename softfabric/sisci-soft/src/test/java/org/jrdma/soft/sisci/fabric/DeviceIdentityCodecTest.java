package org.jrdma.soft.sisci.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.junit.jupiter.api.Test;

class DeviceIdentityCodecTest {

    private static final DeviceIdentity IDENTITY =
            new DeviceIdentity(0xFFFF, 2, 0xFFFFFF, 3, 4, -1, "a name");

    @Test
    void shouldDecodeWhatItEncoded() {
        assertThat(DeviceIdentityCodec.decode(DeviceIdentityCodec.encode(IDENTITY)))
                .contains(IDENTITY);
    }

    @Test
    void shouldRejectMalformedData() {
        var valid = DeviceIdentityCodec.encode(IDENTITY);
        for (var length = 0; length < 28; length++) {
            assertThat(DeviceIdentityCodec.decode(Arrays.copyOf(valid, length))).isEmpty();
        }
        var invalidVendor = valid.clone();
        invalidVendor[0] = 1;
        assertThat(DeviceIdentityCodec.decode(invalidVendor)).isEmpty();
        var invalidName = valid.clone();
        invalidName[28] = '\n';
        assertThat(DeviceIdentityCodec.decode(invalidName)).isEmpty();
        assertThat(DeviceIdentityCodec.decode(Arrays.copyOf(valid, 4096))).isEmpty();
    }
}
