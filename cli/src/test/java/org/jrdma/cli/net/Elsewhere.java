package org.jrdma.cli.net;

import java.util.Properties;
import org.jrdma.sockets.model.ConnectionsMXBean;

/** A program that says it has the sockets, and that its management is where it was told. */
final class Elsewhere {

    private Elsewhere() {}

    /** Takes the address; says "ready", and waits until its input ends. */
    static void main(String... address) throws Exception {
        var told =
                (Properties)
                        Class.forName("jdk.internal.vm.VMSupport")
                                .getMethod("getAgentProperties")
                                .invoke(null);
        told.setProperty("com.sun.management.jmxremote.localConnectorAddress", address[0]);
        System.setProperty(ConnectionsMXBean.PROPERTY, ConnectionsMXBean.NAME);
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // nobody writes
        }
    }
}
