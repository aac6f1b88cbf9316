package org.jrdma.sockets.report;

import java.util.concurrent.atomic.AtomicBoolean;
import javax.management.JMException;
import org.slf4j.LoggerFactory;

/**
 * Starts the reports of this process when its first stream is connected. They are not started
 * earlier, because the JVM may create a selector provider before logging and management work. They
 * are started on a new thread, so that the connection does not wait for them.
 */
final class ReportStart {

    private static final AtomicBoolean STARTED = new AtomicBoolean();

    private ReportStart() {}

    static void streamConnected() {
        if (!STARTED.get() && STARTED.compareAndSet(false, true)) {
            Thread.ofPlatform().name("jrdma-sockets-start").daemon().start(ReportStart::start);
        }
    }

    private static void start() {
        ConnectionsFile.startIfConfigured();
        OpenConnectionEvent.register();
        try {
            ConnectionsBean.register();
        } catch (JMException e) {
            LoggerFactory.getLogger(ReportStart.class)
                    .warn("Could not register the JMX bean of the connections", e);
        }
    }
}
