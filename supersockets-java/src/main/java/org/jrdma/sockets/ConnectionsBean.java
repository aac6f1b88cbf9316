package org.jrdma.sockets;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.JMException;
import javax.management.ObjectName;

/** {@link Connections} for JMX. */
final class ConnectionsBean implements ConnectionsMXBean {

    private ConnectionsBean() {}

    /** And says in a system property that it is there, for who looks for it in all processes. */
    static void register() throws JMException {
        ManagementFactory.getPlatformMBeanServer()
                .registerMBean(new ConnectionsBean(), new ObjectName(NAME));
        System.setProperty(PROPERTY, NAME);
    }

    @Override
    public List<Line> getConnections() {
        return Connections.all().stream().map(ConnectionsBean::line).toList();
    }

    static Line line(Connection connection) {
        return new Line(
                Connection.name(connection.local()),
                Connection.name(connection.peer()),
                connection.accepted(),
                connection.transport(),
                connection.whyNotFaster(),
                connection.bytesReceived(),
                connection.bytesSent(),
                connection.since().toString());
    }

    @Override
    public String getReport() {
        return Connections.report();
    }

    @Override
    public String getSuperSocketsCounters() {
        return Connections.superSocketsCounters().orElse("");
    }

    @Override
    public void reloadPolicy() throws IOException {
        FabricSockets.reloadPolicy();
    }
}
