package org.jrdma.cli.net;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.io.ObjectInputFilter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import javax.management.JMX;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.jrdma.sockets.model.ConnectionsMXBean;
import org.jrdma.sockets.model.ConnectionsSnapshot;

/**
 * Queries the connections of another JVM through the JDK's attach mechanism. The query starts the
 * management agent in that JVM only if its system properties show that it uses the SDK's sockets.
 */
final class JvmConnectionsQuery {

    /** The timeout of a query. A stopped or stalled JVM may never answer. */
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    /**
     * The prefix of the address of a management agent that the JDK starts. Any other address is
     * rejected, because it could lead to a host that the queried JVM has chosen.
     */
    private static final String LOCAL_AGENT = "service:jmx:rmi://127.0.0.1/stub/";

    /** Accepts only the classes that occur in the answer of a management agent. */
    static final ObjectInputFilter FILTER =
            ObjectInputFilter.Config.createFilter(
                    "javax.management.**;java.rmi.**;sun.rmi.**;java.lang.*;java.util.*;!*");

    private final RunningJvm jvm;
    private final boolean isNamed;
    private final Instant end = Instant.now().plus(TIMEOUT);
    private final FutureTask<Optional<ProcessConnections>> answer;

    private JvmConnectionsQuery(RunningJvm jvm, boolean isNamed) {
        this.jvm = jvm;
        this.isNamed = isNamed;
        this.answer = new FutureTask<>(this::query);
    }

    /** Returns the process IDs of the JVMs that the JDK can attach to. */
    static List<Long> attachable() {
        return VirtualMachine.list().stream()
                .filter(found -> found.id().matches("\\d+"))
                .map(found -> Long.parseLong(found.id()))
                .toList();
    }

    /**
     * Starts a query on a separate thread, so that several queries run at the same time and
     * together take no longer than one timeout.
     *
     * @param isNamed true if the user of the command has specified the process ID. Otherwise, the
     *     command does not attach to JVMs of other users, because it would deserialize data from
     *     them
     */
    static JvmConnectionsQuery start(RunningJvm jvm, boolean isNamed) {
        var query = new JvmConnectionsQuery(jvm, isNamed);
        Thread.ofPlatform().daemon().name("jrdma-net-" + jvm.pid()).start(query.answer);
        return query;
    }

    /** Returns the answer, or empty if the JVM does not use the SDK's sockets or has ended. */
    Optional<ProcessConnections> await() throws IOException {
        try {
            return answer.get(Duration.between(Instant.now(), end).toMillis(), MILLISECONDS);
        } catch (TimeoutException _) {
            return problem("no answer within %d s".formatted(TIMEOUT.toSeconds()));
        } catch (ExecutionException e) {
            return problem(e.getCause().toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("The query was interrupted.", e);
        }
    }

    private Optional<ProcessConnections> query() {
        if (!jvm.isOfThisUser() && !isNamed) {
            return problem(
                    "owned by user %s; use --pid %d to query this process"
                            .formatted(jvm.user(), jvm.pid()));
        }
        try {
            var machine = VirtualMachine.attach(Long.toString(jvm.pid()));
            try {
                var name = machine.getSystemProperties().getProperty(ConnectionsMXBean.PROPERTY);
                if (name == null) {
                    return Optional.empty();
                }
                return Optional.of(connections(machine.startLocalManagementAgent(), name));
            } finally {
                machine.detach();
            }
        } catch (AttachNotSupportedException e) {
            return problem("attach failed" + owner() + ": " + e.getMessage());
        } catch (IOException | MalformedObjectNameException e) {
            return problem("query failed" + owner() + ": " + e.getMessage());
        }
    }

    @SuppressWarnings("BanJNDI") // An address that contains a stub causes no lookup.
    private ProcessConnections connections(String address, String name)
            throws IOException, MalformedObjectNameException {
        if (!address.startsWith(LOCAL_AGENT)) {
            throw new IOException("its management address is not local: " + address);
        }
        if (ObjectInputFilter.Config.getSerialFilter() == null) {
            ObjectInputFilter.Config.setSerialFilter(FILTER);
        }
        try (var connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            var bean =
                    JMX.newMXBeanProxy(
                            connector.getMBeanServerConnection(),
                            new ObjectName(name),
                            ConnectionsMXBean.class);
            return ProcessConnections.of(
                    Optional.empty(),
                    new ConnectionsSnapshot(
                            jvm.pid(), jvm.program(), Instant.now(), false, bean.getConnections()));
        }
    }

    private String owner() {
        var details = new ArrayList<String>();
        if (!jvm.isOfThisUser()) {
            details.add("owned by user " + jvm.user());
        }
        if (jvm.isContained()) {
            details.add("in a container or other PID namespace");
        }
        return details.isEmpty() ? "" : " (%s)".formatted(String.join(", ", details));
    }

    private Optional<ProcessConnections> problem(String problem) {
        // the messages of RMI have line breaks
        var line = problem.replaceAll("\\s+", " ");
        return ProcessHandle.of(jvm.pid()).isPresent()
                ? Optional.of(ProcessConnections.unknown(jvm, line))
                : Optional.empty();
    }
}
