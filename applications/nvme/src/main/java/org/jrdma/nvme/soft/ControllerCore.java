package org.jrdma.nvme.soft;

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.IdentifyFabrics;
import org.jspecify.annotations.Nullable;

/**
 * The state and the commands of a controller, which do not depend on its transport. Its admin
 * commands are executed by one thread, and its I/O commands by any number of threads.
 */
final class ControllerCore {

    private static final int MAX_NOTICES = 64;
    private static final int MEDIA_ERROR_TYPE = 2;

    private record Notice(int namespace, HostIdentifier host, int type) {}

    private final Subsystem subsystem;
    private final int id;
    private final AsyncEvents events = new AsyncEvents();
    private final ErrorLog errors = new ErrorLog();
    private final Statistics statistics = new Statistics();
    private final Features features;
    private final LogPages logPages;
    private final CommonAdminCommands admin;

    /** Notifications from other controllers, which run on other threads. */
    private final Queue<Notice> notices = new ConcurrentLinkedQueue<>();

    /** The ids of changed namespaces, from threads of the program. */
    private final Set<Integer> changedNamespaces = ConcurrentHashMap.newKeySet();

    /**
     * Creates a controller that receives the notifications of its subsystem.
     *
     * @param data the memory of the host for admin commands
     * @param maxIoQueues the largest number of I/O queues
     * @param fabrics the attributes of a controller that is reached over a network; otherwise null
     */
    ControllerCore(
            Subsystem subsystem,
            int id,
            HostDataBuffer data,
            int maxIoQueues,
            @Nullable IdentifyFabrics fabrics) {
        this.subsystem = subsystem;
        this.id = id;
        this.features = new Features(subsystem, data, maxIoQueues);
        this.logPages = new LogPages(subsystem, errors, statistics, features, events, data);
        this.admin =
                new CommonAdminCommands(subsystem, id, data, features, logPages, events, fabrics);
        subsystem.add(this);
    }

    /** Ends the notifications of the subsystem. */
    void close() {
        subsystem.remove(this);
    }

    int id() {
        return id;
    }

    AsyncEvents events() {
        return events;
    }

    Features features() {
        return features;
    }

    CommonAdminCommands admin() {
        return admin;
    }

    /** Returns the I/O commands of one thread, which access the memory of the host by a buffer. */
    NvmCommands newCommands(HostDataBuffer data) {
        return new NvmCommands(subsystem, id, features, statistics, data);
    }

    /** Restores the initial state, except the logs and the counters. */
    void reset() {
        features.reset();
        logPages.clearNotifications();
        notices.clear();
        changedNamespaces.clear();
        events.clear();
    }

    /** Records a command that ended with an error. */
    void recordFailure(int queue, Command command, CommandException failure) {
        if (failure.status().typeAndCode() >>> 8 == MEDIA_ERROR_TYPE) {
            statistics.countMediaError();
        }
        errors.add(queue, command, failure.status());
    }

    /** Makes all blocks durable. A failure has been logged, and does not prevent a shutdown. */
    void flushAll() {
        for (var namespace : subsystem.namespaces()) {
            try {
                namespace.flush();
            } catch (CommandException _) {
                statistics.countMediaError();
            }
        }
    }

    /** Called by the threads of all controllers of the subsystem. */
    void notifyReservation(int namespace, HostIdentifier host, int type) {
        if (features.host().equals(host) && notices.size() < MAX_NOTICES) {
            notices.add(new Notice(namespace, host, type));
        }
    }

    /** Called by the threads of the program. */
    void notifyNamespace(int id) {
        changedNamespaces.add(id);
    }

    /** Called by the threads of all controllers of the subsystem. */
    boolean hasHost(boolean isExtended) {
        return !features.host().isNone() && features.host().isExtended() == isExtended;
    }

    private void takeChangedNamespaces() {
        for (var ids = changedNamespaces.iterator(); ids.hasNext(); ) {
            var id = ids.next();
            ids.remove(); // a later change of the same namespace adds the id again
            logPages.addChangedNamespace(id);
        }
    }

    /** Adds the notifications of other threads to the log pages. */
    void takeNotices() {
        if (!changedNamespaces.isEmpty()) { // an iterator would be created at each poll
            takeChangedNamespaces();
        }
        for (var notice = notices.poll(); notice != null; notice = notices.poll()) {
            if (notice.host().equals(features.host())
                    && !features.isMasked(notice.namespace(), notice.type())) {
                logPages.addNotification(notice.namespace(), notice.type());
            }
        }
    }
}
