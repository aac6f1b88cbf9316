/**
 * The wire format of RoCEv2: the headers behind UDP port 4791, which of them an opcode announces,
 * and the checksum over the packet.
 */
@NullMarked
package org.jrdma.soft.roce.packet;

import org.jspecify.annotations.NullMarked;
