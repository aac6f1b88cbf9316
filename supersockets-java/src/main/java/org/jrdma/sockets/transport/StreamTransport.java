package org.jrdma.sockets.transport;

import org.jrdma.sockets.model.Transport;

/** A transport that the channels of this module can use: kernel sockets, or a kernel bypass. */
public sealed interface StreamTransport extends Transport
        permits FamilyTransport, BypassTransport {}
