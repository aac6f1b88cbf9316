package org.jrdma.tck.recorded;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.AlternatePath;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.ConnectionVendorOptions;
import org.jrdma.verbs.model.DataOrder;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.MigrationState;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.RateLimit;
import org.jrdma.verbs.model.StaticRate;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the settings and queries of a queue pair that do not concern its state. */
class OptionalQueuePairFeaturesTest {

    private static final int PATH_MIGRATED = 6; // IBV_EVENT_PATH_MIG

    @RegisterExtension private final Recorder recorder = Recorder.begin();
    private RecordingDeviceFixture side;

    @BeforeEach
    void open() throws Exception {
        side = RecordingDeviceFixture.on(recorder.open());
        recorder.calls();
    }

    @AfterEach
    void close() {
        side.close();
    }

    @Test
    void shouldSetTheRateLimit() throws Exception {
        side.queuePair().limitRate(new RateLimit(0xffff_fffeL, 65_536, 40_000));
        side.queuePair().limitRate(RateLimit.ofKilobits(1_000_000));
        side.queuePair().limitRate(RateLimit.NONE);

        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_modify_qp_rate_limit qp=qp1 rate_limit=4294967294 max_burst_sz=65536 typical_pkt_sz=40000 comp_mask=0",
                        "ibv_modify_qp_rate_limit qp=qp1 rate_limit=1000000 max_burst_sz=0 typical_pkt_sz=0 comp_mask=0",
                        "ibv_modify_qp_rate_limit qp=qp1 rate_limit=0 max_burst_sz=0 typical_pkt_sz=0 comp_mask=0");
    }

    @Test
    void shouldReportThatADeviceRejectsOrLacksRateLimits() throws Exception {
        recorder.fail("ibv_modify_qp_rate_limit", Errno.EINVAL);
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> side.queuePair().limitRate(RateLimit.ofKilobits(1)))
                .withMessageContaining("ibv_modify_qp_rate_limit")
                .withMessageContaining("kilobits=1")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EINVAL));

        try (var unsupported =
                RecordingDeviceFixture.on(recorder.openWithout("modify_qp_rate_limit"))) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> unsupported.queuePair().limitRate(RateLimit.ofKilobits(1)))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EOPNOTSUPP));
        }
    }

    @Test
    void shouldRejectARateLimitOutOfRange() {
        assertThatIllegalArgumentException().isThrownBy(() -> RateLimit.ofKilobits(1L << 32));
        assertThatIllegalArgumentException().isThrownBy(() -> new RateLimit(1, -1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new RateLimit(1, 0, 65_536));
    }

    @Test
    void shouldReportTheOrderInWhichDataArrives() throws Exception {
        assertThat(side.queuePair().dataOrder(CompletionKind.SEND)).isEmpty();
        recorder.answer("data_in_order", 2);
        assertThat(side.queuePair().dataOrder(CompletionKind.WRITE))
                .containsExactly(DataOrder.ALIGNED_128_BYTES);
        recorder.answer("data_in_order", 3);
        assertThat(side.queuePair().dataOrder(CompletionKind.READ))
                .containsExactlyInAnyOrder(DataOrder.values());
        side.queuePair().dataOrder(CompletionKind.COMPARE_AND_SWAP);
        side.queuePair().dataOrder(CompletionKind.FETCH_AND_ADD);

        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_query_qp_data_in_order qp=qp1 op=2 flags=0x1",
                        "ibv_query_qp_data_in_order qp=qp1 op=0 flags=0x1",
                        "ibv_query_qp_data_in_order qp=qp1 op=4 flags=0x1",
                        "ibv_query_qp_data_in_order qp=qp1 op=5 flags=0x1",
                        "ibv_query_qp_data_in_order qp=qp1 op=6 flags=0x1");
    }

    @ParameterizedTest
    @ValueSource(ints = {0x65, 0xff})
    void shouldAcceptFieldsThatADriverHasNotWritten(int unwritten) throws Exception {
        recorder.answer("unwritten", unwritten);

        var attributes = side.queuePair().query();

        assertThat(attributes.state()).isEqualTo(QueuePairState.RESET);
        assertThat(attributes.address().serviceLevel()).isEqualTo(unwritten & 0xf);
        assertThat(attributes.alternatePath())
                // All fields are checked, because the library does not report which of them it has
                // written.
                .isPresent();
    }

    @Test
    void shouldReadNoPathRecordsOnIwarp() throws Exception {
        recorder.answer("transport_type", 1); // IBV_TRANSPORT_IWARP
        recorder.answer("unwritten", 0x65);
        try (var warp = RecordingDeviceFixture.on(recorder.open())) {
            var attributes = warp.queuePair().query();

            assertThat(attributes.address().serviceLevel()).isZero();
            assertThat(attributes.address().route()).isEmpty();
            assertThat(attributes.alternatePath()).isEmpty();
        }
    }

    @Test
    void shouldRejectDataOrderQueriesForOperationsWithoutData() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> side.queuePair().dataOrder(CompletionKind.BIND))
                .withMessageContaining("BIND");
    }

    @Test
    void shouldPromiseNoDataOrderIfTheLibraryDoesNotReportIt() throws Exception {
        var older = recorder.verbsWithout("ibv_query_qp_data_in_order");
        try (var unsupported = RecordingDeviceFixture.on(older.open("recording0"))) {
            recorder.answer("data_in_order", 3);

            assertThat(unsupported.queuePair().dataOrder(CompletionKind.WRITE)).isEmpty();
        }
    }

    @Test
    void shouldQueryAndSetEnhancedConnectionOptions() throws Exception {
        recorder.answer("ece_vendor_id", 0x15b3);
        recorder.answer("ece_options", 0x8000_0001L);

        assertThat(side.queuePair().vendorOptions())
                .isEqualTo(new ConnectionVendorOptions(0x15b3, 0x8000_0001));
        side.queuePair().vendorOptions(new ConnectionVendorOptions(0x15b3, 0x8000_0001));

        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_query_ece qp=qp1 comp_mask=0",
                        "ibv_set_ece qp=qp1 vendor_id=0x15b3 options=0x80000001 comp_mask=0");
    }

    @Test
    void shouldReportThatEnhancedConnectionOptionsAreNotSupported() throws Exception {
        var options = new ConnectionVendorOptions(1, 2);
        recorder.fail("ibv_query_ece", Errno.EOPNOTSUPP);
        recorder.fail("ibv_set_ece", Errno.EOPNOTSUPP);
        assertRejectsOptions(side, options);

        var older = recorder.verbsWithout("ibv_query_ece", "ibv_set_ece");
        try (var unsupported = RecordingDeviceFixture.on(older.open("recording0"))) {
            assertRejectsOptions(unsupported, options);
        }
    }

    private static void assertRejectsOptions(
            RecordingDeviceFixture side, ConnectionVendorOptions options) {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(side.queuePair()::vendorOptions)
                .withMessageContaining("ibv_query_ece")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EOPNOTSUPP));
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> side.queuePair().vendorOptions(options))
                .withMessageContaining("ibv_set_ece")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EOPNOTSUPP));
    }

    @Test
    void shouldMigrateToTheAlternatePathAndReportIt() throws Exception {
        side.queuePair().connect(side.queuePair().endpoint());
        recorder.calls();
        var route = new AddressVector.GlobalRoute(new Gid(0xfe80L << 48, 9), 1, 0xabcde, 63, 8);
        var path =
                new AlternatePath(
                        new AddressVector(
                                2, 0x2222, 3, 1, StaticRate.GIGABITS_100, Optional.of(route)),
                        5,
                        Duration.ofNanos(67_108_864));

        side.queuePair()
                .modify(
                        QueuePairChange.ofAttributes()
                                .alternatePath(path)
                                .migrationState(MigrationState.REARM));

        assertThat(recorder.calls())
                .containsExactly(
                        "ibv_modify_qp qp=qp1 attr_mask=0x44000 path_mig_state=1 alt_ah_attr={dlid=0x2222 sl=3 src_path_bits=1 static_rate=16 port_num=2 is_global=1 dgid=fe800000000000000000000000000009 flow_label=0xabcde sgid_index=1 hop_limit=63 traffic_class=8} alt_pkey_index=5 alt_port_num=2 alt_timeout=14");
        var attributes = side.queuePair().query();
        assertThat(attributes.alternatePath()).contains(path);
        assertThat(attributes.migrationState()).isEqualTo(MigrationState.REARM);

        recorder.event(PATH_MIGRATED, "qp1");
        var event = side.device().nextEvent(ofSeconds(5));
        assertThat(event.type()).isEqualTo(AsyncEventType.PATH_MIGRATED);
        assertThat(event.subject()).containsSame(side.queuePair());
    }

    @Test
    void shouldReportNoAlternatePathUnlessOneWasSet() throws Exception {
        assertThat(side.queuePair().query().alternatePath()).isEmpty();
    }

    @Test
    void shouldRejectAnAlternatePathThatIsInvalidOrNotPermittedInTheState() {
        var address = new AddressVector(1, 1, 0, 0, StaticRate.UNLIMITED, Optional.empty());

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AlternatePath(address.withPort(0), 0, ofSeconds(1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AlternatePath(address, 65_536, ofSeconds(1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AlternatePath(address, 0, Duration.ZERO));
        var change =
                QueuePairChange.ofAttributes()
                        .alternatePath(new AlternatePath(address, 0, ofSeconds(1)));
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> side.queuePair().modify(change));
        assertThat(recorder.calls()).isEmpty();
    }

    @Test
    void shouldPassTheStaticRateOfAnAddress() throws Exception {
        var address = new AddressVector(1, 0x33, 0, 0, StaticRate.UNLIMITED, Optional.empty());
        for (var rate :
                Stream.of(StaticRate.values()).filter(r -> r != StaticRate.UNKNOWN).toList()) {
            side.domain().newAddressHandle(address.withStaticRate(rate)).close();
        }

        assertThat(recorder.calls())
                .filteredOn(call -> call.startsWith("ibv_create_ah"))
                .map(call -> call.replaceFirst(".*static_rate=(\\d+) .*", "$1"))
                .containsExactly(
                        "0", "2", "5", "3", "6", "4", "7", "8", "9", "10", "11", "12", "13", "14",
                        "15", "16", "17", "18", "19", "20", "21", "22", "23", "24");
    }

    @Test
    void shouldComputeTheSourcePortOfAFlowLabelLikeTheCHeader() {
        for (var label : new int[] {0, 1, 0x3fff, 0x4000, 0xc000, 0xabcde, 0xfffff}) {
            assertThat(new AddressVector.GlobalRoute(Gid.NONE, 0, label, 1, 0).udpSourcePort())
                    .isEqualTo(recorder.udpSourcePort(label));
        }
    }
}
