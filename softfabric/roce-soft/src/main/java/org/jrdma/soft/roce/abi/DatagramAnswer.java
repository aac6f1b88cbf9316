package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.connection.Inquiry;
import org.jrdma.soft.roce.connection.ServiceReply;

/** Is asked by a peer where datagrams go. */
final class DatagramAnswer implements Dialogue {

    private final ConnectionDevice device;
    private final Inquiry inquiry;

    DatagramAnswer(ConnectionDevice device, Inquiry inquiry) {
        this.device = device;
        this.inquiry = inquiry;
    }

    @Override
    public void accept(long parameters) {
        var wanted = ConnectionParameterCodec.at(parameters);
        var data = ConnectionParameterCodec.privateData(wanted, ServiceReply.PRIVATE_BYTES);
        var queuePair = ConnectionParameterCodec.offer(wanted).queuePair();
        Dialogue.refuseUnless(
                device.control(_ -> inquiry.accept(queuePair, QueuePairSteps.QUEUE_KEY, data)));
    }

    @Override
    public void reject(int reason, long privateData, byte length) {
        var data =
                ConnectionParameterCodec.privateData(
                        privateData, length, ServiceReply.PRIVATE_BYTES);
        Dialogue.refuseUnless(device.control(_ -> inquiry.reject(data)));
    }

    @Override
    public int initialize(MemorySegment attributes, int state) {
        return QueuePairSteps.ofDatagrams(attributes, state);
    }

    @Override
    public void close() {
        device.control(_ -> {
            inquiry.close();
            return true;
        });
    }
}
