package org.jrdma.sockets.transport;

import org.jrdma.sockets.model.Transport;

/**
 * A transport that the channels of this module can use, with kernel sockets ({@link
 * KernelTransport}) or without them ({@link BypassTransport}).
 */
public sealed interface StreamTransport extends Transport
        permits KernelTransport, BypassTransport {}
