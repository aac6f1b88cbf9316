package org.jrdma.cli.net;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.io.ObjectInputFilter;
import java.time.Duration;
import java.time.Instant;
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
 * Asks a JVM by the JDK's attach mechanism. Management is started in it only if its properties tell
 * that it has the SDK's sockets.
 */
final class Asking {

    /** Of a JVM that is stopped or stands still. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    /** Of the agent that the JDK starts; other ones lead to wherever their JVM wants. */
    private static final String LOCAL_AGENT = "service:jmx:rmi://127.0.0.1/stub/";

    /** What the answer of a management agent consists of. */
    static final ObjectInputFilter FILTER =
            ObjectInputFilter.Config.createFilter(
                    "javax.management.**;java.rmi.**;sun.rmi.**;java.lang.*;java.util.*;!*");

    private final Jvm jvm;
    private final boolean isNamed;
    private final Instant end = Instant.now().plus(PATIENCE);
    private final FutureTask<Optional<NetProcess>> answer;

    private Asking(Jvm jvm, boolean isNamed) {
        this.jvm = jvm;
        this.isNamed = isNamed;
        this.answer = new FutureTask<>(this::ask);
    }

    /** The numbers of the JVMs that the JDK itself knows, and can attach to. */
    static List<Long> known() {
        return VirtualMachine.list().stream()
                .filter(found -> found.id().matches("\\d+"))
                .map(found -> Long.parseLong(found.id()))
                .toList();
    }

    /**
     * Begins. Nobody waits for a JVM longer than for the slowest. One of another user answers only
     * if it was named, as root would trust it with objects that it sends.
     */
    static Asking begin(Jvm jvm, boolean isNamed) {
        var asking = new Asking(jvm, isNamed);
        Thread.ofPlatform().daemon().name("jrdma-net-" + jvm.pid()).start(asking.answer);
        return asking;
    }

    /** What it answers; empty if it has no such sockets, or has ended. */
    Optional<NetProcess> await() throws IOException {
        try {
            return answer.get(Duration.between(Instant.now(), end).toMillis(), MILLISECONDS);
        } catch (TimeoutException _) {
            return problem("it does not answer within %d s".formatted(PATIENCE.toSeconds()));
        } catch (ExecutionException e) {
            return problem(e.getCause().toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private Optional<NetProcess> ask() {
        try {
            var machine = VirtualMachine.attach(Long.toString(jvm.pid()));
            try {
                var name = machine.getSystemProperties().getProperty(ConnectionsMXBean.PROPERTY);
                if (name == null) {
                    return Optional.empty();
                }
                return jvm.isOfThisUser() || isNamed
                        ? Optional.of(connections(machine.startLocalManagementAgent(), name))
                        : problem(
                                "it belongs to %s; --pid %s asks it"
                                        .formatted(jvm.user(), jvm.pid()));
            } finally {
                machine.detach();
            }
        } catch (AttachNotSupportedException e) {
            return problem("it cannot be attached to" + because() + ": " + e.getMessage());
        } catch (IOException | MalformedObjectNameException e) {
            return problem("it does not answer" + because() + ": " + e.getMessage());
        }
    }

    @SuppressWarnings("BanJNDI") // an address with a stub is looked up nowhere
    private NetProcess connections(String address, String name)
            throws IOException, MalformedObjectNameException {
        if (!address.startsWith(LOCAL_AGENT)) {
            throw new IOException("its management is elsewhere: " + address);
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
            return NetProcess.of(
                    Optional.empty(),
                    new ConnectionsSnapshot(
                            jvm.pid(), jvm.program(), Instant.now(), false, bean.getConnections()));
        }
    }

    private String because() {
        var user = jvm.isOfThisUser() ? "" : ", as it belongs to " + jvm.user();
        return jvm.isContained() ? user + ", in a container or PID namespace of its own" : user;
    }

    private Optional<NetProcess> problem(String problem) {
        return ProcessHandle.of(jvm.pid()).isPresent()
                ? Optional.of(NetProcess.unknown(jvm, problem))
                : Optional.empty();
    }
}
