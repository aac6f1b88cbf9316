package org.jrdma.volume.net;

/** The behavior of connections over verbs that move the data of large reads by datagrams. */
final class DatagramConnectionTest extends VerbsConnectionTest {

    @Override
    NodeOptions options() {
        return super.options().datagramReads(true);
    }
}
