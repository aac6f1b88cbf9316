package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.ReservationNotification;
import org.jrdma.nvme.model.ReservationReport;
import org.jrdma.nvme.model.ReservationType;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.TestBorrower.Memory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reservation commands of two hosts, each with a controller of its own of one subsystem. */
@Timeout(60)
class ReservationCommandsTest {

    private static final int WRITE_EXCLUSIVE = ReservationType.WRITE_EXCLUSIVE.code() << 8;
    private static final int EXCLUSIVE_ACCESS = ReservationType.EXCLUSIVE_ACCESS.code() << 8;

    private final BlockStorage storage = Harness.storage();
    private final Subsystem subsystem = Harness.subsystem(storage);
    private final Host first = new Host(11, 110);
    private final Host second = new Host(22, 220);

    /** A host with its controller. */
    private final class Host {

        final Harness harness = new Harness(subsystem);
        final long id;
        final long key;
        TestQueue admin;
        TestQueue queue;
        Memory page;

        Host(long id, long key) {
            this.id = id;
            this.key = key;
        }

        void start() {
            var borrower = harness.borrower(Harness.MANAGER);
            admin = harness.enable(borrower);
            queue = harness.createQueue(admin, 1, 8, borrower);
            page = borrower.allocate(4096);
        }

        void setIdentifier() {
            page.segment().set(JAVA_LONG, 0, id);
            assertThat(setFeature(FeatureId.HOST_IDENTIFIER, 0, 0)).isEqualTo(Status.SUCCESS);
        }

        Status setFeature(int feature, int namespace, int value) {
            return admin.status(
                    Command.admin(AdminOpcode.SET_FEATURES)
                            .withNamespace(namespace)
                            .withData(page.address(), 0)
                            .withDwords(feature, value, 0));
        }

        Status execute(int opcode, int action, long currentKey, long secondKey) {
            page.segment().set(JAVA_LONG, 0, currentKey);
            page.segment().set(JAVA_LONG, 8, secondKey);
            return queue.status(
                    Command.blocks(opcode, 1, 0, 1)
                            .withData(page.address(), 0)
                            .withDwords(action, 0, 0));
        }

        Status register() {
            return execute(IoOpcode.RESERVATION_REGISTER, 0, 0, key);
        }

        Status acquire(int type) {
            return execute(IoOpcode.RESERVATION_ACQUIRE, type, key, 0);
        }

        ReservationReport report(int dword11) {
            assertThat(
                            queue.status(
                                    Command.blocks(IoOpcode.RESERVATION_REPORT, 1, 0, 1)
                                            .withData(page.address(), 0)
                                            .withDwords(1023, dword11, 0)))
                    .isEqualTo(Status.SUCCESS);
            return ReservationReport.decode(page.segment(), dword11 != 0);
        }

        Status access(int opcode) {
            return queue.status(Command.blocks(opcode, 1, 0, 1).withData(page.address(), 0));
        }
    }

    @BeforeEach
    void start() {
        first.start();
        second.start();
    }

    @AfterEach
    void close() {
        first.harness.close();
        second.harness.close();
        storage.close();
    }

    private void registerBoth() {
        first.setIdentifier();
        second.setIdentifier();
        assertThat(first.register()).isEqualTo(Status.SUCCESS);
        assertThat(second.register()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseReservationsOfAHostWithoutIdentifier() {
        assertThat(first.register()).isEqualTo(Status.COMMAND_SEQUENCE_ERROR);
        assertThat(first.acquire(WRITE_EXCLUSIVE)).isEqualTo(Status.COMMAND_SEQUENCE_ERROR);
        assertThat(first.execute(IoOpcode.RESERVATION_RELEASE, 1, 0, 0))
                .isEqualTo(Status.COMMAND_SEQUENCE_ERROR);
        assertThat(first.report(0).registrants()).isEmpty();
    }

    @Test
    void shouldDenyTheAccessOfOtherHosts() {
        registerBoth();
        assertThat(first.acquire(EXCLUSIVE_ACCESS)).isEqualTo(Status.SUCCESS);
        assertThat(second.acquire(EXCLUSIVE_ACCESS)).isEqualTo(Status.RESERVATION_CONFLICT);
        for (var opcode :
                new int[] {
                    IoOpcode.READ,
                    IoOpcode.WRITE,
                    IoOpcode.FLUSH,
                    IoOpcode.WRITE_ZEROES,
                    IoOpcode.DATASET_MANAGEMENT
                }) {
            first.page.segment().fill((byte) 0);
            second.page.segment().fill((byte) 0);
            assertThat(second.access(opcode)).isEqualTo(Status.RESERVATION_CONFLICT);
            assertThat(first.access(opcode)).isEqualTo(Status.SUCCESS);
        }
        var report = second.report(0);
        assertThat(report.type()).contains(ReservationType.EXCLUSIVE_ACCESS);
        assertThat(report.registrants())
                .containsExactly(
                        new ReservationReport.Registrant(1, true, HostIdentifier.of(11), 110),
                        new ReservationReport.Registrant(2, false, HostIdentifier.of(22), 220));
        assertThat(second.report(1).registrants().getFirst().key()).isEqualTo(110);
    }

    @Test
    void shouldKeepReservationsWhenTheControllerIsReset() {
        registerBoth();
        assertThat(first.acquire(EXCLUSIVE_ACCESS)).isEqualTo(Status.SUCCESS);
        first.harness.disable();
        assertThat(second.access(IoOpcode.READ)).isEqualTo(Status.RESERVATION_CONFLICT);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldPreemptAndNotifyTheOtherHost(int action) {
        registerBoth();
        assertThat(first.acquire(WRITE_EXCLUSIVE)).isEqualTo(Status.SUCCESS);
        first.admin.submit(Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST).withId(5));
        assertThat(
                        second.execute(
                                IoOpcode.RESERVATION_ACQUIRE,
                                WRITE_EXCLUSIVE | action,
                                second.key,
                                first.key))
                .isEqualTo(Status.SUCCESS);
        var event = first.admin.await();
        assertThat(event.commandId()).isEqualTo(5);
        assertThat(AsyncEvent.decode(event.result())).isEqualTo(AsyncEvent.RESERVATION);
        assertThat(readNotification(first))
                .isEqualTo(
                        new ReservationNotification(
                                1, ReservationNotification.REGISTRATION_PREEMPTED, 0, 1));
        assertThat(readNotification(first)).isEqualTo(new ReservationNotification(0, 0, 0, 0));
        assertThat(first.access(IoOpcode.WRITE)).isEqualTo(Status.RESERVATION_CONFLICT);
        assertThat(second.access(IoOpcode.WRITE)).isEqualTo(Status.SUCCESS);
    }

    private static ReservationNotification readNotification(Host host) {
        assertThat(
                        host.admin.status(
                                Command.admin(AdminOpcode.GET_LOG_PAGE)
                                        .withData(host.page.address(), 0)
                                        .withDwords(
                                                LogPage.RESERVATION_NOTIFICATION | 15 << 16, 0, 0)))
                .isEqualTo(Status.SUCCESS);
        return ReservationNotification.decode(host.page.segment());
    }

    @Test
    void shouldOmitMaskedNotifications() {
        registerBoth();
        assertThat(first.setFeature(FeatureId.RESERVATION_NOTIFICATION_MASK, 1, 1 << 3))
                .isEqualTo(Status.SUCCESS);
        assertThat(second.execute(IoOpcode.RESERVATION_RELEASE, 1, second.key, 0))
                .isEqualTo(Status.SUCCESS);
        assertThat(first.admin.status(Command.admin(0xff))).isEqualTo(Status.INVALID_OPCODE);
        assertThat(readNotification(first).type()).isZero();
    }

    @Test
    void shouldRejectInvalidFields() {
        registerBoth();
        var ignoreKey = 1 << 3;
        assertThat(first.execute(IoOpcode.RESERVATION_REGISTER, 3, 0, 0))
                .isEqualTo(Status.INVALID_FIELD);
        assertThat(first.execute(IoOpcode.RESERVATION_REGISTER, 3 << 30, 0, 0))
                .isEqualTo(Status.INVALID_FIELD);
        assertThat(first.execute(IoOpcode.RESERVATION_ACQUIRE, WRITE_EXCLUSIVE | 3, 110, 0))
                .isEqualTo(Status.INVALID_FIELD);
        assertThat(first.acquire(0)).isEqualTo(Status.INVALID_FIELD);
        assertThat(first.acquire(7 << 8)).isEqualTo(Status.INVALID_FIELD);
        assertThat(first.acquire(WRITE_EXCLUSIVE | ignoreKey)).isEqualTo(Status.INVALID_FIELD);
        assertThat(first.execute(IoOpcode.RESERVATION_RELEASE, 2, 110, 0))
                .isEqualTo(Status.INVALID_FIELD);
        assertThat(first.execute(IoOpcode.RESERVATION_RELEASE, ignoreKey, 110, 0))
                .isEqualTo(Status.INVALID_FIELD);
        assertThat(first.execute(IoOpcode.RESERVATION_RELEASE, 0, 110, 0))
                .isEqualTo(Status.INVALID_FIELD);
        assertThat(first.report(0).type()).isEmpty();
    }

    @Test
    void shouldReplaceAndRemoveRegistrations() {
        registerBoth();
        assertThat(first.execute(IoOpcode.RESERVATION_REGISTER, 2, 110, 111))
                .isEqualTo(Status.SUCCESS);
        assertThat(first.report(0).registrants().getFirst().key()).isEqualTo(111);
        assertThat(first.execute(IoOpcode.RESERVATION_REGISTER, 1 | 1 << 3, 0, 0))
                .isEqualTo(Status.SUCCESS);
        assertThat(first.report(0).registrants()).hasSize(1);
        assertThat(first.execute(IoOpcode.RESERVATION_RELEASE, WRITE_EXCLUSIVE, 0, 0))
                .isEqualTo(Status.RESERVATION_CONFLICT);
    }

    @Test
    void shouldRejectHostIdentifiersOfTwoFormats() {
        first.setIdentifier();
        second.page.segment().set(JAVA_LONG, 0, 22);
        assertThat(second.setFeature(FeatureId.HOST_IDENTIFIER, 0, 1))
                .isEqualTo(Status.HOST_IDENTIFIER_FORMAT);
        assertThat(first.register()).isEqualTo(Status.SUCCESS);
        first.harness.disable(); // the registration remains
        second.page.segment().set(JAVA_LONG, 0, 22);
        assertThat(second.setFeature(FeatureId.HOST_IDENTIFIER, 0, 1))
                .isEqualTo(Status.HOST_IDENTIFIER_FORMAT);
        second.setIdentifier();
    }

    @Test
    void shouldCountDroppedNotifications() {
        registerBoth();
        for (var i = 0; i < 100; i++) {
            assertThat(second.register()).isEqualTo(Status.SUCCESS);
            assertThat(first.register()).isEqualTo(Status.SUCCESS);
            assertThat(second.execute(IoOpcode.RESERVATION_RELEASE, 1, second.key, 0))
                    .isEqualTo(Status.SUCCESS);
            // the first host has taken the notification when it executes a command
            assertThat(first.admin.status(Command.admin(0xff))).isEqualTo(Status.INVALID_OPCODE);
        }
        for (var i = 1; i <= 64; i++) {
            assertThat(readNotification(first).count()).isEqualTo(i);
        }
        assertThat(second.register()).isEqualTo(Status.SUCCESS);
        assertThat(first.register()).isEqualTo(Status.SUCCESS);
        assertThat(second.execute(IoOpcode.RESERVATION_RELEASE, 1, second.key, 0))
                .isEqualTo(Status.SUCCESS);
        assertThat(first.admin.status(Command.admin(0xff))).isEqualTo(Status.INVALID_OPCODE);
        assertThat(readNotification(first).count()).isEqualTo(101);
    }

    @Test
    void shouldRequireTheExtendedReportForExtendedHosts() {
        first.page.segment().set(JAVA_LONG, 0, 1);
        first.page.segment().set(JAVA_LONG, 8, 2);
        assertThat(first.setFeature(FeatureId.HOST_IDENTIFIER, 0, 1)).isEqualTo(Status.SUCCESS);
        assertThat(first.register()).isEqualTo(Status.SUCCESS);
        assertThat(
                        first.queue.status(
                                Command.blocks(IoOpcode.RESERVATION_REPORT, 1, 0, 1)
                                        .withData(first.page.address(), 0)
                                        .withDwords(63, 0, 0)))
                .isEqualTo(Status.HOST_IDENTIFIER_FORMAT);
        assertThat(
                        second.queue.status(
                                Command.blocks(IoOpcode.RESERVATION_REPORT, 1, 0, 1)
                                        .withData(second.page.address(), 0)
                                        .withDwords(63, 0, 0)))
                .isEqualTo(Status.HOST_IDENTIFIER_FORMAT);
        assertThat(first.report(1).registrants().getFirst().host())
                .isEqualTo(new HostIdentifier(1, 2, true));
        assertThat(
                        first.queue.status(
                                Command.blocks(IoOpcode.RESERVATION_REPORT, 1, 0, 1)
                                        .withData(first.page.address(), 0)
                                        .withDwords(-1, 1, 0)))
                .isEqualTo(Status.INVALID_FIELD);
    }
}
