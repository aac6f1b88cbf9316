package org.jrdma.nvme.soft;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.ReservationNotification;
import org.jrdma.nvme.model.ReservationReport;
import org.jrdma.nvme.model.ReservationType;
import org.jrdma.nvme.model.Status;
import org.jspecify.annotations.Nullable;

/**
 * The registrants and the reservation of a namespace. Not safe for use by multiple threads: the
 * {@link Namespace} has the lock.
 */
final class Reservations {

    /** The largest number of registrants, so that hosts cannot use up the memory. */
    static final int MAX_REGISTRANTS = 256;

    /** The limit of one controller, so that its host cannot prevent registrations of others. */
    static final int MAX_REGISTRANTS_OF_CONTROLLER = 16;

    /** The id in the report for the hosts of controllers that have ended. */
    private static final int NO_CONTROLLER = 0xffff;

    /** Receives the notifications of hosts about changes that other hosts made. */
    @FunctionalInterface
    interface Listener {
        /** Notifies a host of a change, such as {@link ReservationNotification#type()}. */
        void notify(HostIdentifier host, int type);
    }

    private record Registration(int controllerId, long key) {}

    private final Listener listener;
    private final Map<HostIdentifier, Registration> registrants = new LinkedHashMap<>();
    private @Nullable ReservationType type;

    /** The host that acquired the reservation. */
    private @Nullable HostIdentifier holder;

    private int generation;

    Reservations(Listener listener) {
        this.listener = listener;
    }

    boolean hasRegistrants(boolean isExtended) {
        return registrants.keySet().stream().anyMatch(host -> host.isExtended() == isExtended);
    }

    boolean mayRead(HostIdentifier host) {
        return type == null || type.othersMayRead() || hasFullAccess(type, host);
    }

    boolean mayWrite(HostIdentifier host) {
        return type == null || hasFullAccess(type, host);
    }

    private boolean hasFullAccess(ReservationType held, HostIdentifier host) {
        return held.isSharedByRegistrants() ? registrants.containsKey(host) : host.equals(holder);
    }

    /** Registers a key. Fails if the host has registered another key. */
    void register(HostIdentifier host, int controllerId, long key) throws CommandException {
        var registration = registrants.get(host);
        if (registration != null) {
            requireNoConflict(registration.key() == key);
            return;
        }
        var ofController =
                registrants.values().stream()
                        .filter(other -> other.controllerId() == controllerId)
                        .count();
        CommandException.require(
                registrants.size() < MAX_REGISTRANTS
                        && ofController < MAX_REGISTRANTS_OF_CONTROLLER,
                Status.CAPACITY_EXCEEDED);
        registrants.put(host, new Registration(controllerId, key));
        generation++;
    }

    /**
     * Replaces the key of a registrant. If the current key is ignored, also registers a host.
     *
     * @param ignoreKey true if {@code currentKey} need not match
     */
    void replace(
            HostIdentifier host, int controllerId, long currentKey, long newKey, boolean ignoreKey)
            throws CommandException {
        if (ignoreKey && !registrants.containsKey(host)) {
            register(host, controllerId, newKey);
            return;
        }
        requireRegistration(host, currentKey, ignoreKey);
        registrants.put(host, new Registration(controllerId, newKey));
        generation++;
    }

    /** Keeps the registrations of a controller that has ended, without its id. */
    void controllerEnded(int controllerId) {
        registrants.replaceAll((_, registration) ->
                registration.controllerId() == controllerId
                        ? new Registration(NO_CONTROLLER, registration.key())
                        : registration);
    }

    /** Removes the registration of a host, and releases the reservation if the host holds it. */
    void unregister(HostIdentifier host, long currentKey, boolean ignoreKey)
            throws CommandException {
        requireRegistration(host, currentKey, ignoreKey);
        registrants.remove(host);
        generation++;
        if (type != null && isLastHolder(type, host)) {
            releaseReservation(host);
        }
    }

    private boolean isLastHolder(ReservationType held, HostIdentifier removed) {
        return held.isHeldByAllRegistrants() ? registrants.isEmpty() : removed.equals(holder);
    }

    /** Acquires the reservation. Fails if another host holds it, or if it has another type. */
    void acquire(HostIdentifier host, long currentKey, ReservationType newType)
            throws CommandException {
        requireRegistration(host, currentKey, false);
        if (type == null) {
            hold(host, newType);
        } else {
            requireNoConflict(type == newType && isHolder(host));
        }
    }

    /**
     * Removes the registrations with a key, except that of the preempting host, and takes the
     * reservation if its holder was removed.
     */
    void preempt(HostIdentifier host, long currentKey, long preemptedKey, ReservationType newType)
            throws CommandException {
        requireRegistration(host, currentKey, false);
        if (type == null) {
            removeRegistrants(host, preemptedKey);
        } else if (type.isHeldByAllRegistrants()) {
            if (preemptedKey == 0) {
                removeAllExcept(host);
                changeReservation(host, newType);
            } else {
                removeRegistrants(host, preemptedKey);
            }
        } else if (preemptedKey == keyOfHolder()) {
            removeWithKey(host, preemptedKey);
            changeReservation(host, newType);
        } else {
            CommandException.require(preemptedKey != 0, Status.INVALID_FIELD);
            removeRegistrants(host, preemptedKey);
        }
        generation++;
    }

    private long keyOfHolder() {
        var registration = holder == null ? null : registrants.get(holder);
        return registration == null ? 0 : registration.key();
    }

    /** Replaces the reservation, and notifies the remaining registrants if its type changes. */
    private void changeReservation(HostIdentifier host, ReservationType newType) {
        var previous = type;
        hold(host, newType);
        if (previous != newType) {
            notifyOthers(host, ReservationNotification.RESERVATION_RELEASED);
        }
    }

    private void hold(HostIdentifier host, ReservationType newType) {
        type = newType;
        holder = host;
    }

    private void removeRegistrants(HostIdentifier host, long key) throws CommandException {
        requireNoConflict(registrants.values().stream().anyMatch(each -> each.key() == key));
        removeWithKey(host, key);
    }

    private void removeWithKey(HostIdentifier host, long key) {
        for (var registrant : List.copyOf(registrants.entrySet())) {
            if (registrant.getValue().key() == key) {
                remove(registrant.getKey(), host);
            }
        }
    }

    private void removeAllExcept(HostIdentifier host) {
        List.copyOf(registrants.keySet()).forEach(registrant -> remove(registrant, host));
    }

    private void remove(HostIdentifier registrant, HostIdentifier preempting) {
        if (!registrant.equals(preempting)) {
            registrants.remove(registrant);
            listener.notify(registrant, ReservationNotification.REGISTRATION_PREEMPTED);
        }
    }

    /** Releases the reservation. Does nothing if the host is a registrant but not a holder. */
    void release(HostIdentifier host, long currentKey, ReservationType heldType)
            throws CommandException {
        requireRegistration(host, currentKey, false);
        if (type != null && isHolder(host)) {
            CommandException.require(type == heldType, Status.INVALID_FIELD);
            releaseReservation(host);
        }
    }

    private void releaseReservation(HostIdentifier host) {
        var isShared = type != null && type.isSharedByRegistrants();
        type = null;
        holder = null;
        if (isShared) {
            notifyOthers(host, ReservationNotification.RESERVATION_RELEASED);
        }
    }

    /** Releases the reservation and removes all registrations. */
    void clear(HostIdentifier host, long currentKey) throws CommandException {
        requireRegistration(host, currentKey, false);
        notifyOthers(host, ReservationNotification.RESERVATION_PREEMPTED);
        registrants.clear();
        type = null;
        holder = null;
        generation++;
    }

    private void notifyOthers(HostIdentifier host, int change) {
        for (var registrant : registrants.keySet()) {
            if (!registrant.equals(host)) {
                listener.notify(registrant, change);
            }
        }
    }

    private boolean isHolder(HostIdentifier host) {
        return type != null
                && (type.isHeldByAllRegistrants()
                        ? registrants.containsKey(host)
                        : host.equals(holder));
    }

    private void requireRegistration(HostIdentifier host, long key, boolean ignoreKey)
            throws CommandException {
        var registration = registrants.get(host);
        requireNoConflict(registration != null && (ignoreKey || registration.key() == key));
    }

    private static void requireNoConflict(boolean condition) throws CommandException {
        CommandException.require(condition, Status.RESERVATION_CONFLICT);
    }

    ReservationReport report() {
        var list = new ArrayList<ReservationReport.Registrant>();
        registrants.forEach((host, registration) ->
                list.add(
                        new ReservationReport.Registrant(
                                registration.controllerId(),
                                isHolder(host),
                                host,
                                registration.key())));
        return new ReservationReport(generation, Optional.ofNullable(type), List.copyOf(list));
    }
}
