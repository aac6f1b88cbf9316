package org.jrdma.soft.sisci.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.junit.jupiter.api.Test;

class DeviceDescriptionTest {

    private static final DeviceIdentity IDENTITY =
            new DeviceIdentity(0xFFFF, 2, 0xFFFFFF, 3, 4, -1, "a name");

    private static byte[] data(int count, List<Integer> borrowers) {
        var identity = DeviceIdentityCodec.encode(IDENTITY);
        var data = ByteBuffer.allocate(4 + 4 * borrowers.size() + identity.length).putInt(count);
        borrowers.forEach(data::putInt);
        return data.put(identity).array();
    }

    @Test
    void shouldDecodeTheStateTheBorrowersAndTheIdentity() {
        for (var borrowers : List.of(List.<Integer>of(), List.of(4, 8, 8))) {
            assertThat(DeviceDescriptionMessage.decode(2, data(borrowers.size(), borrowers)))
                    .contains(
                            new DeviceDescriptionMessage(
                                    IDENTITY, new LendingState(false, true, borrowers)));
        }
    }

    @Test
    void shouldRejectMalformedData() {
        var valid = data(2, List.of(4, 8));
        for (var length = 0; length < 4 + 8 + 28; length++) {
            assertThat(DeviceDescriptionMessage.decode(0, Arrays.copyOf(valid, length)))
                    .as("%d bytes", length)
                    .isEmpty();
        }
        for (var count : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 30}) {
            assertThat(DeviceDescriptionMessage.decode(0, data(count, List.of(4, 8)))).isEmpty();
        }
        assertThat(DeviceDescriptionMessage.decode(0, data(256, Collections.nCopies(256, 4))))
                .isEmpty();
    }
}
