package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.verbs.Verbs;

class VerbsConnectionTest extends NodeConnectionContract {

    @Override
    TransportKind transport() {
        return TransportKind.VERBS;
    }

    @Override
    void assertNothingIsOpen() throws Exception {
        var deadline = TestRequestHandler.deadline();
        while (!Verbs.configured().openDevices().isEmpty() && !deadline.hasPassed()) {
            Thread.onSpinWait();
        }
        assertThat(Verbs.configured().openDevices()).isEmpty();
    }
}
