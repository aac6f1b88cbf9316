package org.jrdma.cli.net;

import java.util.Properties;
import org.jrdma.sockets.model.ConnectionsMXBean;

/** A program that pretends to use the sockets and to have a management agent at an address. */
final class FakeJmxAgentProgram {

    private FakeJmxAgentProgram() {}

    /** Publishes the address, prints "ready" and waits until its input ends. */
    static void main(String... address) throws Exception {
        var properties =
                (Properties)
                        Class.forName("jdk.internal.vm.VMSupport")
                                .getMethod("getAgentProperties")
                                .invoke(null);
        properties.setProperty("com.sun.management.jmxremote.localConnectorAddress", address[0]);
        System.setProperty(ConnectionsMXBean.PROPERTY, ConnectionsMXBean.NAME);
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // the parent writes nothing
        }
    }
}
