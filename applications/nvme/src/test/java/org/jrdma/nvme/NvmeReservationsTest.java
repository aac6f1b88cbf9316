package org.jrdma.nvme;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.nvme.model.ReservationType.EXCLUSIVE_ACCESS;
import static org.jrdma.nvme.model.ReservationType.WRITE_EXCLUSIVE;
import static org.jrdma.nvme.model.ReservationType.WRITE_EXCLUSIVE_ALL_REGISTRANTS;
import static org.jrdma.nvme.model.ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.ReservationReport.Registrant;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the reservations of two hosts, each with a controller of its own of one drive. */
@Timeout(60)
class NvmeReservationsTest {

    private static final HostIdentifier FIRST_HOST = HostIdentifier.of(11);
    private static final HostIdentifier SECOND_HOST = HostIdentifier.of(22);
    private static final long FIRST_KEY = 0x1100_0000_0001L;
    private static final long SECOND_KEY = 0x2200_0000_0001L;

    private final DriveHarness firstController = new DriveHarness();
    private final DriveHarness secondController = firstController.other();
    private NvmeDrive firstDrive;
    private NvmeDrive secondDrive;
    private NvmeReservations first;
    private NvmeReservations second;

    @BeforeEach
    void open() throws Exception {
        firstDrive = open(firstController, FIRST_HOST);
        secondDrive = open(secondController, SECOND_HOST);
        first = firstDrive.reservations(firstDrive.namespaces().getFirst());
        second = secondDrive.reservations(secondDrive.namespaces().getFirst());
    }

    private static NvmeDrive open(DriveHarness controller, HostIdentifier host)
            throws FabricException {
        return Nvme.open(controller, NvmeOptions.DEFAULTS.hostIdentifier(host));
    }

    @AfterEach
    void close() {
        firstDrive.close();
        secondDrive.close();
        secondController.close();
        firstController.close();
    }

    private static void assertRefused(Status status, ThrowingCallable call) {
        assertThatExceptionOfType(NvmeException.class)
                .isThrownBy(call)
                .withMessageContaining(
                        "of namespace 1 failed on I/O queue 1 of the test controller")
                .extracting(failure -> failure.status().orElseThrow())
                .isEqualTo(status);
    }

    private static void assertConflict(ThrowingCallable call) {
        assertRefused(Status.RESERVATION_CONFLICT, call);
    }

    private static void write(NvmeDrive drive) throws FabricException {
        try (var queue = drive.newQueue(1);
                var memory = drive.newMemory(4096)) {
            queue.write(drive.namespaces().getFirst(), 0, 1, memory, 0, 0);
            queue.await(ofSeconds(10));
            if (!queue.succeeded()) {
                throw queue.failure();
            }
        }
    }

    @Test
    void shouldReportRegistrantsAndTheReservation() throws Exception {
        assertThat(first.report().registrants()).isEmpty();
        first.register(FIRST_KEY);
        second.register(SECOND_KEY);
        second.acquire(SECOND_KEY, WRITE_EXCLUSIVE);
        var report = first.report();
        assertThat(report.type()).contains(WRITE_EXCLUSIVE);
        assertThat(report.registrants())
                .containsExactly(
                        new Registrant(1, false, FIRST_HOST, FIRST_KEY),
                        new Registrant(2, true, SECOND_HOST, SECOND_KEY));
        assertThat(second.report()).isEqualTo(report);
        second.release(SECOND_KEY, WRITE_EXCLUSIVE);
        assertThat(second.report().type()).isEmpty();
    }

    @Test
    void shouldRefuseOtherKeysOfAHost() throws Exception {
        assertConflict(() -> first.unregister(FIRST_KEY));
        first.register(FIRST_KEY);
        first.register(FIRST_KEY);
        assertConflict(() -> first.register(FIRST_KEY + 1));
        assertConflict(() -> first.unregister(FIRST_KEY + 1));
        assertConflict(() -> second.unregister(FIRST_KEY));
        assertThat(first.report().registrants()).hasSize(1);
        first.unregister(FIRST_KEY);
        assertThat(first.report().registrants()).isEmpty();
    }

    @Test
    void shouldReplaceTheKeyOfAnEarlierStartOfTheHost() throws Exception {
        first.registerOrReplace(FIRST_KEY);
        first.acquire(FIRST_KEY, WRITE_EXCLUSIVE);
        firstDrive.close();
        firstDrive = open(firstController, FIRST_HOST);
        first = firstDrive.reservations(firstDrive.namespaces().getFirst());
        first.registerOrReplace(FIRST_KEY + 1);
        assertThat(first.report().registrants())
                .containsExactly(new Registrant(1, true, FIRST_HOST, FIRST_KEY + 1));
        assertConflict(() -> write(secondDrive));
        write(firstDrive);
    }

    @Test
    void shouldRefuseToAcquireAReservationOfAnotherHost() throws Exception {
        assertConflict(() -> first.acquire(FIRST_KEY, WRITE_EXCLUSIVE));
        first.register(FIRST_KEY);
        second.register(SECOND_KEY);
        assertConflict(() -> first.acquire(SECOND_KEY, WRITE_EXCLUSIVE));
        first.acquire(FIRST_KEY, WRITE_EXCLUSIVE);
        first.acquire(FIRST_KEY, WRITE_EXCLUSIVE);
        assertConflict(() -> first.acquire(FIRST_KEY, EXCLUSIVE_ACCESS));
        assertConflict(() -> second.acquire(SECOND_KEY, WRITE_EXCLUSIVE));
        assertThat(second.report().type()).contains(WRITE_EXCLUSIVE);
    }

    @Test
    void shouldRefuseToReleaseWithAnotherKeyOrType() throws Exception {
        assertConflict(() -> first.release(FIRST_KEY, WRITE_EXCLUSIVE));
        first.register(FIRST_KEY);
        second.register(SECOND_KEY);
        first.acquire(FIRST_KEY, WRITE_EXCLUSIVE);
        assertConflict(() -> first.release(SECOND_KEY, WRITE_EXCLUSIVE));
        assertRefused(Status.INVALID_FIELD, () -> first.release(FIRST_KEY, EXCLUSIVE_ACCESS));
        second.release(SECOND_KEY, WRITE_EXCLUSIVE);
        assertThat(first.report().type()).contains(WRITE_EXCLUSIVE);
    }

    @Test
    void shouldRefuseWritesOfAPreemptedHost() throws Exception {
        first.register(FIRST_KEY);
        first.acquire(FIRST_KEY, WRITE_EXCLUSIVE_REGISTRANTS_ONLY);
        second.register(SECOND_KEY);
        write(firstDrive);
        write(secondDrive);
        second.preempt(SECOND_KEY, FIRST_KEY, WRITE_EXCLUSIVE_REGISTRANTS_ONLY);
        assertThatThrownBy(() -> write(firstDrive))
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("write of 1 blocks from block 0 of namespace 1 failed")
                .hasMessageContaining("conflict with a reservation of another host (0x083)");
        write(secondDrive);
        assertThat(first.report().registrants())
                .containsExactly(new Registrant(2, true, SECOND_HOST, SECOND_KEY));
        assertConflict(() -> first.acquire(FIRST_KEY, WRITE_EXCLUSIVE_REGISTRANTS_ONLY));
    }

    @Test
    void shouldRefuseToPreemptUnknownKeys() throws Exception {
        assertConflict(() -> second.preempt(SECOND_KEY, FIRST_KEY, WRITE_EXCLUSIVE));
        first.register(FIRST_KEY);
        second.register(SECOND_KEY);
        first.acquire(FIRST_KEY, WRITE_EXCLUSIVE);
        assertConflict(() -> second.preempt(FIRST_KEY, FIRST_KEY, WRITE_EXCLUSIVE));
        assertConflict(() -> second.preempt(SECOND_KEY, FIRST_KEY + 1, WRITE_EXCLUSIVE));
        assertRefused(Status.INVALID_FIELD, () -> second.preempt(SECOND_KEY, 0, WRITE_EXCLUSIVE));
        write(firstDrive);
    }

    @Test
    void shouldPreemptAllRegistrantsThatHoldAReservation() throws Exception {
        first.register(FIRST_KEY);
        second.register(SECOND_KEY);
        first.acquire(FIRST_KEY, WRITE_EXCLUSIVE_ALL_REGISTRANTS);
        second.preempt(SECOND_KEY, 0, EXCLUSIVE_ACCESS);
        assertThat(second.report().type()).contains(EXCLUSIVE_ACCESS);
        assertThat(second.report().registrants()).hasSize(1);
    }

    @Test
    void shouldOnlyLetRegistrantsClearReservations() throws Exception {
        first.register(FIRST_KEY);
        first.acquire(FIRST_KEY, EXCLUSIVE_ACCESS);
        assertConflict(() -> second.clear(SECOND_KEY));
        second.register(SECOND_KEY);
        assertConflict(() -> second.clear(FIRST_KEY));
        second.clear(SECOND_KEY);
        assertThat(first.report().registrants()).isEmpty();
        assertThat(first.report().type()).isEmpty();
    }

    @Test
    void shouldRefuseReservationsWithoutAHostIdentifier() throws Exception {
        secondDrive.close();
        secondDrive = open(secondController, HostIdentifier.NONE);
        assertThatIllegalStateException()
                .isThrownBy(() -> secondDrive.reservations(secondDrive.namespaces().getFirst()))
                .withMessageContaining("Set NvmeOptions.hostIdentifier().");
    }

    @Test
    void shouldRefuseAHostIdentifierOfAClient() {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        Nvme.join(
                                secondController,
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 1),
                                NvmeOptions.DEFAULTS.hostIdentifier(FIRST_HOST)))
                .withMessageContaining("Set it in the program of the manager");
    }

    @Test
    void shouldRefuseAHostIdentifierOfAnotherSize() throws Exception {
        secondDrive.close();
        var extended = new HostIdentifier(1, 2, true);
        assertThatExceptionOfType(NvmeException.class)
                .isThrownBy(() -> open(secondController, extended))
                .withMessageContaining("set-up of the host identifier failed")
                .extracting(failure -> failure.status().orElseThrow())
                .isEqualTo(Status.HOST_IDENTIFIER_FORMAT);
        firstDrive.close();
        secondDrive = open(secondController, extended);
        second = secondDrive.reservations(secondDrive.namespaces().getFirst());
        second.register(SECOND_KEY);
        assertThat(second.report().registrants())
                .containsExactly(new Registrant(2, false, extended, SECOND_KEY));
    }

    @Test
    void shouldReadAReportOfIdentifiersOfAnotherSize() throws Exception {
        firstDrive.close();
        secondDrive.close();
        var extended = new HostIdentifier(1, 2, true);
        firstDrive = open(firstController, extended);
        first = firstDrive.reservations(firstDrive.namespaces().getFirst());
        first.register(FIRST_KEY);
        firstDrive.close();
        try (var manager = Nvme.open(firstController, NvmeOptions.DEFAULTS)) {
            var other = new NvmeReservations(manager, manager.namespaces().getFirst());
            assertThat(other.report().registrants())
                    .containsExactly(new Registrant(1, false, extended, FIRST_KEY));
            assertRefused(Status.COMMAND_SEQUENCE_ERROR, () -> other.register(FIRST_KEY));
        }
    }

    @Test
    void shouldRefuseReservationsOfAClosedDrive() {
        firstDrive.close();
        assertThatIllegalStateException().isThrownBy(() -> first.register(FIRST_KEY));
    }

    @Test
    void shouldReportATimeoutAndAllQueuesInUse() throws Exception {
        secondDrive.close();
        secondDrive =
                Nvme.open(
                        secondController,
                        NvmeOptions.DEFAULTS
                                .hostIdentifier(SECOND_HOST)
                                .queues(1)
                                .adminTimeout(ofMillis(200)));
        second = secondDrive.reservations(secondDrive.namespaces().getFirst());
        try (var _ = secondDrive.newQueue(1)) {
            assertThatThrownBy(() -> second.register(SECOND_KEY))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("all 1 queues of the test controller are in use");
        }
        secondController.stopController();
        assertThatThrownBy(() -> second.register(SECOND_KEY))
                .isInstanceOf(FabricTimeoutException.class);
        secondController.resumeController();
        assertThat(first.report().registrants()).isEmpty();
    }
}
