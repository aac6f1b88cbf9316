package org.jrdma.cli.net;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.management.JMX;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.jrdma.sockets.ConnectionsMXBean;
import org.jrdma.sockets.ConnectionsSnapshot;

/**
 * Asks a JVM by the JDK's attach mechanism. Management is started in it only if its properties tell
 * that it has the SDK's sockets.
 */
final class Asking {

    /** Of a JVM that is stopped or stands still. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final Jvm jvm;
    private final FutureTask<Optional<NetProcess>> answer;

    private Asking(Jvm jvm) {
        this.jvm = jvm;
        this.answer = new FutureTask<>(this::ask);
    }

    /** The numbers of the JVMs that the JDK itself knows, and can attach to. */
    static List<Long> known() {
        return VirtualMachine.list().stream()
                .filter(found -> found.id().matches("\\d+"))
                .map(found -> Long.parseLong(found.id()))
                .toList();
    }

    /** Begins. Nobody waits for a JVM longer than for the slowest. */
    static Asking begin(Jvm jvm) {
        var asking = new Asking(jvm);
        Thread.ofPlatform().daemon().name("jrdma-net-" + jvm.pid()).start(asking.answer);
        return asking;
    }

    /** What it answers; empty if it has no such sockets, or has ended. */
    Optional<NetProcess> await() throws IOException {
        try {
            return answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
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
                return name == null
                        ? Optional.empty()
                        : Optional.of(connections(machine.startLocalManagementAgent(), name));
            } finally {
                machine.detach();
            }
        } catch (AttachNotSupportedException e) {
            return problem("it cannot be attached to" + because() + ": " + e.getMessage());
        } catch (IOException | MalformedObjectNameException e) {
            return problem("it does not answer" + because() + ": " + e.getMessage());
        }
    }

    @SuppressWarnings(
            "BanJNDI") // the address is the JVM's own, of the local agent just started in it
    private NetProcess connections(String address, String name)
            throws IOException, MalformedObjectNameException {
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
