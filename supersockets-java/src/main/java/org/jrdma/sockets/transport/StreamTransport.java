package org.jrdma.sockets.transport;

import org.jrdma.sockets.model.Transport;

/** A transport as the channels use it: a kind of kernel sockets, or a kernel bypass. */
public sealed interface StreamTransport extends Transport
        permits FamilyTransport, BypassTransport {}
