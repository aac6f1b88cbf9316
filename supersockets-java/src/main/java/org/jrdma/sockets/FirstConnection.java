package org.jrdma.sockets;

import java.util.concurrent.atomic.AtomicBoolean;
import javax.management.JMException;
import org.slf4j.LoggerFactory;

/**
 * What is done once, when the first stream is connected, and not before: the provider of selectors
 * may be made long before logging and management can be. On a thread of its own, since nobody's
 * connection should wait for it.
 */
final class FirstConnection {

    private static final AtomicBoolean MADE = new AtomicBoolean();

    private FirstConnection() {}

    static void made() {
        if (!MADE.get() && MADE.compareAndSet(false, true)) {
            Thread.ofPlatform().name("jrdma-sockets-start").daemon().start(FirstConnection::follow);
        }
    }

    private static void follow() {
        ConnectionsReport.startIfAsked();
        OpenConnectionRecord.register();
        try {
            ConnectionsBean.register();
        } catch (JMException e) {
            LoggerFactory.getLogger(FirstConnection.class)
                    .warn("Connections cannot be seen over JMX", e);
        }
    }
}
