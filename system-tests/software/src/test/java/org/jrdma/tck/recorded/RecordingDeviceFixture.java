package org.jrdma.tck.recorded;

import static org.jrdma.verbs.QueuePairOptions.reliable;

import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.model.VerbsException;

/**
 * The device of the recording library with the objects that most tests need. The recorded calls
 * refer to these objects as pd1, cq1 and qp1.
 */
record RecordingDeviceFixture(
        Device device,
        ProtectionDomain domain,
        CompletionQueue completions,
        PolledQueuePair queuePair)
        implements AutoCloseable {

    static RecordingDeviceFixture on(Device device) throws VerbsException {
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionQueue(16);
        return new RecordingDeviceFixture(
                device,
                domain,
                completions,
                domain.newQueuePair(reliable(completions).inlineBytes(1024)));
    }

    @Override
    public void close() {
        device.close();
    }
}
