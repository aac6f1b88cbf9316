package org.jrdma.nvme.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.ReservationNotification;
import org.jrdma.nvme.model.ReservationReport.Registrant;
import org.jrdma.nvme.model.ReservationType;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The rules of reservations. Two hosts are registered, a third host is not. */
class ReservationsTest {

    private static final HostIdentifier A = HostIdentifier.of(1);
    private static final HostIdentifier B = HostIdentifier.of(2);
    private static final HostIdentifier C = HostIdentifier.of(3);
    private static final ReservationType WRITE_EXCLUSIVE = ReservationType.WRITE_EXCLUSIVE;
    private static final ReservationType ALL_REGISTRANTS =
            ReservationType.EXCLUSIVE_ACCESS_ALL_REGISTRANTS;

    private record Notice(HostIdentifier host, int type) {}

    private final List<Notice> notices = new ArrayList<>();
    private final Reservations reservations =
            new Reservations((host, type) -> notices.add(new Notice(host, type)));

    @BeforeEach
    void register() throws CommandException {
        reservations.register(A, 1, 10);
        reservations.register(B, 2, 20);
    }

    private static void assertFails(Status status, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        CommandException.class, e -> assertThat(e.status()).isEqualTo(status));
    }

    private static void assertConflict(ThrowingCallable call) {
        assertFails(Status.RESERVATION_CONFLICT, call);
    }

    @ParameterizedTest
    @CsvSource({
        // the access of the holder, of another registrant, and of another host
        "WRITE_EXCLUSIVE, rw, r, r",
        "EXCLUSIVE_ACCESS, rw, '', ''",
        "WRITE_EXCLUSIVE_REGISTRANTS_ONLY, rw, rw, r",
        "EXCLUSIVE_ACCESS_REGISTRANTS_ONLY, rw, rw, ''",
        "WRITE_EXCLUSIVE_ALL_REGISTRANTS, rw, rw, r",
        "EXCLUSIVE_ACCESS_ALL_REGISTRANTS, rw, rw, ''"
    })
    void shouldGrantTheAccessOfTheType(
            ReservationType type, String holder, String registrant, String other)
            throws CommandException {
        assertThat(access(C)).isEqualTo("rw");
        reservations.acquire(A, 10, type);
        assertThat(access(A)).isEqualTo(holder);
        assertThat(access(B)).isEqualTo(registrant);
        assertThat(access(C)).isEqualTo(other);
    }

    private String access(HostIdentifier host) {
        return (reservations.mayRead(host) ? "r" : "") + (reservations.mayWrite(host) ? "w" : "");
    }

    @Test
    void shouldRegisterAHostOnce() throws CommandException {
        reservations.register(A, 1, 10);
        assertConflict(() -> reservations.register(A, 1, 11));
        assertThat(reservations.report().generation()).isEqualTo(2);
        assertThat(reservations.report().registrants())
                .containsExactly(new Registrant(1, false, A, 10), new Registrant(2, false, B, 20));
    }

    @Test
    void shouldReplaceAKey() throws CommandException {
        assertConflict(() -> reservations.replace(A, 1, 11, 12, false));
        assertConflict(() -> reservations.replace(C, 3, 0, 12, false));
        reservations.replace(A, 1, 10, 12, false);
        reservations.replace(A, 1, 99, 13, true);
        reservations.replace(C, 3, 99, 30, true);
        assertThat(reservations.report().registrants())
                .extracting(Registrant::key)
                .containsExactly(13L, 20L, 30L);
    }

    @Test
    void shouldReleaseTheReservationOfAnUnregisteredHolder() throws CommandException {
        reservations.acquire(A, 10, ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY);
        assertConflict(() -> reservations.unregister(A, 11, false));
        assertConflict(() -> reservations.unregister(C, 0, true));
        reservations.unregister(A, 11, true);
        assertThat(reservations.report().type()).isEmpty();
        assertThat(notices)
                .containsExactly(new Notice(B, ReservationNotification.RESERVATION_RELEASED));
    }

    @Test
    void shouldKeepTheReservationOfAllRegistrantsUntilTheLastIsUnregistered()
            throws CommandException {
        reservations.acquire(A, 10, ALL_REGISTRANTS);
        reservations.unregister(A, 10, false);
        assertThat(reservations.report().type()).contains(ALL_REGISTRANTS);
        assertThat(access(A)).isEmpty();
        reservations.unregister(B, 20, false);
        assertThat(reservations.report().type()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(ReservationType.class)
    void shouldAcquireAReservationOnce(ReservationType type) throws CommandException {
        assertConflict(() -> reservations.acquire(A, 11, type));
        assertConflict(() -> reservations.acquire(C, 0, type));
        reservations.acquire(A, 10, type);
        reservations.acquire(A, 10, type);
        var other = type == WRITE_EXCLUSIVE ? ALL_REGISTRANTS : WRITE_EXCLUSIVE;
        assertConflict(() -> reservations.acquire(A, 10, other));
        if (type.isHeldByAllRegistrants()) {
            reservations.acquire(B, 20, type);
        } else {
            assertConflict(() -> reservations.acquire(B, 20, type));
        }
        assertThat(reservations.report().registrants().get(0).isHolder()).isTrue();
        assertThat(reservations.report().registrants().get(1).isHolder())
                .isEqualTo(type.isHeldByAllRegistrants());
    }

    @Test
    void shouldReleaseAReservation() throws CommandException {
        reservations.release(A, 10, WRITE_EXCLUSIVE); // nothing to release
        reservations.acquire(A, 10, WRITE_EXCLUSIVE);
        reservations.release(B, 20, WRITE_EXCLUSIVE); // not the holder
        assertConflict(() -> reservations.release(A, 11, WRITE_EXCLUSIVE));
        assertConflict(() -> reservations.release(C, 0, WRITE_EXCLUSIVE));
        assertFails(Status.INVALID_FIELD, () -> reservations.release(A, 10, ALL_REGISTRANTS));
        assertThat(reservations.report().type()).contains(WRITE_EXCLUSIVE);
        reservations.release(A, 10, WRITE_EXCLUSIVE);
        assertThat(reservations.report().type()).isEmpty();
        assertThat(reservations.report().generation()).isEqualTo(2);
        assertThat(notices).isEmpty();
    }

    @Test
    void shouldClearAllRegistrations() throws CommandException {
        reservations.acquire(A, 10, WRITE_EXCLUSIVE);
        assertConflict(() -> reservations.clear(B, 21));
        assertConflict(() -> reservations.clear(C, 0));
        reservations.clear(B, 20);
        assertThat(reservations.report().registrants()).isEmpty();
        assertThat(access(C)).isEqualTo("rw");
        assertThat(notices)
                .containsExactly(new Notice(A, ReservationNotification.RESERVATION_PREEMPTED));
    }

    @Test
    void shouldPreemptTheHolder() throws CommandException {
        reservations.acquire(A, 10, WRITE_EXCLUSIVE);
        reservations.register(C, 3, 10);
        assertConflict(() -> reservations.preempt(B, 21, 10, WRITE_EXCLUSIVE));
        reservations.preempt(B, 20, 10, ReservationType.EXCLUSIVE_ACCESS);
        assertThat(reservations.report().registrants())
                .containsExactly(new Registrant(2, true, B, 20));
        assertThat(access(A)).isEmpty();
        assertThat(reservations.report().generation()).isEqualTo(4);
        assertThat(notices)
                .containsExactly(
                        new Notice(A, ReservationNotification.REGISTRATION_PREEMPTED),
                        new Notice(C, ReservationNotification.REGISTRATION_PREEMPTED));
    }

    @Test
    void shouldRemoveRegistrantsWithoutTakingTheReservation() throws CommandException {
        reservations.acquire(A, 10, WRITE_EXCLUSIVE);
        reservations.register(C, 3, 30);
        assertFails(Status.INVALID_FIELD, () -> reservations.preempt(B, 20, 0, WRITE_EXCLUSIVE));
        assertConflict(() -> reservations.preempt(B, 20, 99, WRITE_EXCLUSIVE));
        reservations.preempt(B, 20, 30, WRITE_EXCLUSIVE);
        assertThat(reservations.report().registrants())
                .containsExactly(new Registrant(1, true, A, 10), new Registrant(2, false, B, 20));
    }

    @Test
    void shouldPreemptRegistrantsWithoutAReservation() throws CommandException {
        assertConflict(() -> reservations.preempt(A, 10, 99, WRITE_EXCLUSIVE));
        reservations.preempt(A, 10, 20, WRITE_EXCLUSIVE);
        assertThat(reservations.report().registrants()).hasSize(1);
        assertThat(reservations.report().type()).isEmpty();
    }

    @Test
    void shouldPreemptAReservationOfAllRegistrants() throws CommandException {
        reservations.acquire(A, 10, ALL_REGISTRANTS);
        reservations.register(C, 3, 30);
        assertConflict(() -> reservations.preempt(A, 10, 99, WRITE_EXCLUSIVE));
        reservations.preempt(A, 10, 30, WRITE_EXCLUSIVE);
        assertThat(reservations.report().type()).contains(ALL_REGISTRANTS);
        assertThat(reservations.report().registrants()).hasSize(2);
        reservations.preempt(B, 20, 0, WRITE_EXCLUSIVE);
        assertThat(reservations.report().registrants())
                .containsExactly(new Registrant(2, true, B, 20));
        assertThat(reservations.report().type()).contains(WRITE_EXCLUSIVE);
    }

    @Test
    void shouldLimitTheNumberOfRegistrants() throws CommandException {
        for (var i = 2; i < Reservations.MAX_REGISTRANTS; i++) {
            reservations.register(HostIdentifier.of(1000 + i), i, i);
        }
        assertFails(Status.CAPACITY_EXCEEDED, () -> reservations.register(C, 3, 30));
        assertFails(Status.CAPACITY_EXCEEDED, () -> reservations.replace(C, 3, 0, 30, true));
        assertThat(reservations.report().registrants()).hasSize(Reservations.MAX_REGISTRANTS);
    }

    @Test
    void shouldLimitTheNumberOfRegistrantsOfAController() throws CommandException {
        for (var i = 0; i < Reservations.MAX_REGISTRANTS_OF_CONTROLLER; i++) {
            reservations.register(HostIdentifier.of(1000 + i), 9, i);
        }
        assertFails(Status.CAPACITY_EXCEEDED, () -> reservations.register(C, 9, 30));
        reservations.register(C, 3, 30);
    }

    @Test
    void shouldNotCountTheRegistrantsOfAControllerThatHasEnded() throws CommandException {
        for (var i = 0; i < Reservations.MAX_REGISTRANTS_OF_CONTROLLER; i++) {
            reservations.register(HostIdentifier.of(1000 + i), 9, i);
        }
        reservations.controllerEnded(9);
        reservations.register(C, 9, 30);
        assertThat(reservations.report().registrants())
                .contains(
                        new Registrant(0xffff, false, HostIdentifier.of(1000), 0),
                        new Registrant(9, false, C, 30));
    }
}
