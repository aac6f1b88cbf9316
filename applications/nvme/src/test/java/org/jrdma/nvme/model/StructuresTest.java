package org.jrdma.nvme.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jrdma.nvme.model.ReservationReport.Registrant;
import org.junit.jupiter.api.Test;

class StructuresTest {

    private final MemorySegment data = MemorySegment.ofArray(new byte[4096]);

    private static IdentifyController controller(String serial) {
        return new IdentifyController(
                0x1b36,
                0x1af4,
                serial,
                "model",
                "1.0",
                2,
                7,
                5,
                0x10400,
                0x100,
                1,
                0,
                4,
                4,
                4,
                16,
                3,
                0x3c,
                true,
                "nqn.2026-11.org.jrdma:x");
    }

    @Test
    void shouldDecodeTheEncodedController() {
        var controller = controller("serial 12345678901.0");
        controller.encode(data);
        assertThat(IdentifyController.decode(data)).isEqualTo(controller);
        assertThat(data.get(JAVA_BYTE, 93)).as("notices of namespaces").isEqualTo((byte) 1);
        assertThat(data.get(JAVA_BYTE, 512)).isEqualTo((byte) 0x66);
        assertThat(data.get(JAVA_BYTE, 513)).isEqualTo((byte) 0x44);
        assertThat(data.get(JAVA_BYTE, 260)).as("one firmware slot").isEqualTo((byte) 3);
        assertThat(data.get(JAVA_BYTE, 525)).as("flush of all namespaces").isEqualTo((byte) 7);
        assertThat(data.get(JAVA_BYTE, 24)).isEqualTo((byte) 'm');
        assertThat(data.get(JAVA_BYTE, 63)).isEqualTo((byte) ' ');
    }

    @Test
    void shouldRejectTextThatIsTooLong() {
        assertThatThrownBy(() -> controller("a serial number of 29 letters").encode(data))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("20 bytes");
    }

    @Test
    void shouldDecodeTheEncodedNamespace() {
        var namespace = new IdentifyNamespace(1L << 40, 12, 8, true, 0xfe, true);
        namespace.encode(data);
        assertThat(IdentifyNamespace.decode(data)).isEqualTo(namespace);
    }

    @Test
    void shouldDecodeTheFormatThatIsInUse() {
        new IdentifyNamespace(1, 9, 0, false, 0, false).encode(data);
        data.set(JAVA_BYTE, 128 + 4 * 3 + 2, (byte) 12);
        data.set(JAVA_BYTE, 26, (byte) 3);
        assertThat(IdentifyNamespace.decode(data).blockShift()).isEqualTo(12);
    }

    @Test
    void shouldDecodeTheEncodedLogs() {
        var smart = new SmartLog(2, 300, 100, 10, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        smart.encode(data);
        assertThat(SmartLog.decode(data)).isEqualTo(smart);
        data.fill((byte) 0);
        var entry = new ErrorLogEntry(9, 1, 0xffff, 0x4002, 1L << 33, 2);
        entry.encode(data, 64);
        assertThat(ErrorLogEntry.decode(data, 64)).isEqualTo(entry);
        data.fill((byte) 0);
        var notification = new ReservationNotification(3, 2, 255, 1);
        notification.encode(data);
        assertThat(ReservationNotification.decode(data)).isEqualTo(notification);
    }

    @Test
    void shouldDecodeTheEncodedReservationReport() {
        var report =
                new ReservationReport(
                        7,
                        Optional.of(ReservationType.EXCLUSIVE_ACCESS_ALL_REGISTRANTS),
                        List.of(
                                new Registrant(1, true, HostIdentifier.of(11), 111),
                                new Registrant(2, false, HostIdentifier.of(-1), -1)));
        report.encode(data, false);
        assertThat(report.bytes(false)).isEqualTo(24 + 2 * 24);
        assertThat(ReservationReport.decode(data, false)).isEqualTo(report);
    }

    @Test
    void shouldDecodeAReportWithExtendedHostIdentifiers() {
        var host = new HostIdentifier(1, 2, true);
        var report =
                new ReservationReport(
                        0, Optional.empty(), List.of(new Registrant(1, false, host, 5)));
        report.encode(data, true);
        assertThat(report.bytes(true)).isEqualTo(128);
        assertThat(ReservationReport.decode(data, true)).isEqualTo(report);
    }

    @Test
    void shouldDecodeAReportThatClaimsMoreRegistrantsThanFit() {
        data.fill((byte) 0xff);
        assertThat(ReservationReport.decode(data.asSlice(0, 100), false).registrants()).hasSize(3);
        assertThat(ReservationReport.decode(data.asSlice(0, 64), true).registrants()).isEmpty();
        assertThat(ReservationReport.decode(data, false).type()).isEmpty();
    }

    @Test
    void shouldDecodeAnyContents() {
        var random = new Random(1);
        var bytes = new byte[4096];
        for (var i = 0; i < 1000; i++) {
            random.nextBytes(bytes);
            var made = MemorySegment.ofArray(bytes);
            assertThat(IdentifyController.decode(made).serialNumber()).hasSizeLessThan(21);
            var _ = IdentifyNamespace.decode(made);
            var _ = SmartLog.decode(made);
            var _ = ReservationReport.decode(made, (i & 1) == 0);
        }
    }

    @Test
    void shouldDescribeTheAccessOfEachReservationType() {
        assertThat(ReservationType.of(0)).isEmpty();
        assertThat(ReservationType.of(7)).isEmpty();
        for (var type : ReservationType.values()) {
            assertThat(ReservationType.of(type.code())).contains(type);
        }
        assertThat(ReservationType.WRITE_EXCLUSIVE.othersMayRead()).isTrue();
        assertThat(ReservationType.EXCLUSIVE_ACCESS_REGISTRANTS_ONLY.othersMayRead()).isFalse();
        assertThat(ReservationType.EXCLUSIVE_ACCESS.isSharedByRegistrants()).isFalse();
    }
}
