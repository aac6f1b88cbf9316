package org.jrdma.tck.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.jrdma.ffi.Errno;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.ExtendedDeviceAttributes.PacketPacing;
import org.jrdma.verbs.model.ExtendedDeviceAttributes.ReceiveSideScaling;
import org.jrdma.verbs.model.ExtendedDeviceAttributes.TagMatching;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests attributes of devices and ports that only newer versions of libibverbs report. */
class NewerAttributesTest {

    @RegisterExtension private final Recorder recorder = Recorder.begin();

    @Test
    void shouldReportTheSpeedOfAPort() throws Exception {
        recorder.answer("port_speed", 8_000);
        try (var device = recorder.open()) {
            recorder.calls();

            assertThat(device.portSpeed(2)).isEqualTo(800_000);

            assertThat(recorder.calls())
                    .containsExactly("ibv_query_port_speed context=device1 port_num=2");
        }
    }

    @Test
    void shouldReportThatTheSpeedOfAPortIsUnknown() throws Exception {
        try (var device = recorder.open()) {
            recorder.fail("ibv_query_port_speed", Errno.EOPNOTSUPP);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> device.portSpeed(1))
                    .withMessageContaining("port 1 of recording0")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EOPNOTSUPP));
            assertThatIllegalArgumentException().isThrownBy(() -> device.portSpeed(0));
        }
        var older = recorder.verbsWithout("ibv_query_port_speed");
        try (var device = older.open("recording0")) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> device.portSpeed(1))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EOPNOTSUPP));
        }
    }

    @Test
    void shouldReportTheExtendedCapabilitiesOfADevice() throws Exception {
        try (var device = recorder.open()) {
            assertThat(device.extendedAttributes())
                    .isEqualTo(
                            new ExtendedDeviceAttributes(
                                    true,
                                    true,
                                    1,
                                    2,
                                    3,
                                    4,
                                    5,
                                    6,
                                    7,
                                    8,
                                    new ReceiveSideScaling(9, 10, 11, 0x1000_0000_0000_000cL, 0xfd),
                                    14,
                                    new PacketPacing(15, 0xffff_fff0L, 17),
                                    new TagMatching(18, 19, 20, 21, 22),
                                    0xffe7,
                                    0xffe8,
                                    25,
                                    26,
                                    0x2000_0000_0000_001bL));
        }
    }

    @Test
    void shouldReportTheKernelsIndexOfADeviceIfItIsKnown() throws Exception {
        assertThat(recorder.verbs().devices().getFirst().index()).hasValue(7);
        recorder.answer("device_index", -1);
        assertThat(recorder.verbs().devices().getFirst().index()).isEmpty();
        assertThat(recorder.verbsWithout("ibv_get_device_index").devices().getFirst().index())
                .isEmpty();
    }
}
