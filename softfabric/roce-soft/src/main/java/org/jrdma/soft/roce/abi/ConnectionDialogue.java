package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.connection.ConnectReply;
import org.jrdma.soft.roce.connection.Conversation;
import org.jrdma.soft.roce.connection.ConversationEvent;
import org.jrdma.soft.roce.connection.Enhancement;
import org.jrdma.soft.roce.connection.Rejection;

/** A connection, whichever side has asked for it. */
final class ConnectionDialogue implements Dialogue {

    private final ConnectionDevice device;
    private final Conversation conversation;
    private final IdentifierOptions options;

    ConnectionDialogue(
            ConnectionDevice device, Conversation conversation, IdentifierOptions options) {
        this.device = device;
        this.conversation = conversation;
        this.options = options;
    }

    @Override
    public void accept(long parameters) {
        if (parameters == 0) {
            Dialogue.refuseUnless(device.control(_ -> conversation.confirm()));
            return;
        }
        var wanted = ConnectionParameterCodec.at(parameters);
        var data = ConnectionParameterCodec.privateData(wanted, ConnectReply.PRIVATE_BYTES);
        var offer = ConnectionParameterCodec.offer(wanted);
        Dialogue.refuseUnless(
                device.control(_ -> {
                    // The peer's vendor, whoever this side's is: that is how it knows an answer.
                    var vendor = peersEnhancement().vendor();
                    var added = new Enhancement(vendor, options.enhancement.options());
                    return conversation.reply(offer.with(added), data);
                }));
    }

    @Override
    public Enhancement peersEnhancement() {
        return device.control(_ -> {
            var peers = conversation.peers();
            return peers == null ? Enhancement.NONE : peers.enhancement();
        });
    }

    @Override
    public void reject(int reason, long privateData, byte length) {
        var data =
                ConnectionParameterCodec.privateData(privateData, length, Rejection.PRIVATE_BYTES);
        Dialogue.refuseUnless(device.control(_ -> conversation.reject(reason, data)));
    }

    /** Without an error where there is nothing to end any more, as the kernel does. */
    @Override
    public void disconnect() {
        device.control(_ -> conversation.disconnect());
    }

    @Override
    public void establish() {
        Dialogue.refuseUnless(device.control(_ -> conversation.establish()));
    }

    @Override
    public int initialize(MemorySegment attributes, int state) {
        return device.control(_ -> QueuePairSteps.of(conversation, options, attributes, state));
    }

    @Override
    public void close() {
        device.control(_ -> {
            conversation.close();
            return true;
        });
    }

    /** Who tells the program what becomes of it; on the thread that drives the port. */
    static ConversationEvent.Receiver telling(IdentifierEvents events) {
        return event -> tell(events, event);
    }

    private static void tell(IdentifierEvents events, ConversationEvent event) {
        switch (event) {
            case ConversationEvent.Replied(var reply) ->
                    events.report(
                            rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(),
                            0,
                            parameters -> ConnectionParameterCodec.write(reply.offer(), parameters),
                            reply.privateData());
            case ConversationEvent.Established() ->
                    events.report(rdma_h.RDMA_CM_EVENT_ESTABLISHED());
            case ConversationEvent.Rejected(var reason, var data) ->
                    events.report(
                            rdma_h.RDMA_CM_EVENT_REJECTED(),
                            reason,
                            IdentifierEvents::withoutParameters,
                            data);
            case ConversationEvent.Unreachable() ->
                    events.report(rdma_h.RDMA_CM_EVENT_UNREACHABLE(), -Errno.ETIMEDOUT);
            case ConversationEvent.Disconnected() ->
                    events.report(rdma_h.RDMA_CM_EVENT_DISCONNECTED());
            case ConversationEvent.TimeWaitExited() ->
                    events.report(rdma_h.RDMA_CM_EVENT_TIMEWAIT_EXIT());
        }
    }
}
