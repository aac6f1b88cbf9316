package org.jrdma.sockets.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jrdma.sockets.model.ConnectionsMXBean;
import org.jrdma.sockets.policy.Preferences;

/** The JMX bean of the open streams of this process. */
final class ConnectionsBean implements ConnectionsMXBean {

    private ConnectionsBean() {}

    /** Registers the bean, and sets the system property that announces it to other processes. */
    static void register() throws JMException {
        ManagementFactory.getPlatformMBeanServer()
                .registerMBean(new ConnectionsBean(), new ObjectName(NAME));
        System.setProperty(PROPERTY, NAME);
    }

    @Override
    public List<Line> getConnections() {
        return OpenStreams.lines();
    }

    @Override
    public String getReport() {
        return OpenStreams.snapshot(false).report();
    }

    @Override
    public String getSuperSocketsCounters() {
        return SuperSocketsCounters.installed().read().orElse("");
    }

    @Override
    public void reloadPolicy() throws IOException {
        Preferences.configured().reload();
    }
}
