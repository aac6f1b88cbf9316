/** The wire format of RoCEv2: the opcodes, the headers after the UDP header, and the checksum. */
@NullMarked
package org.jrdma.soft.roce.packet;

import org.jspecify.annotations.NullMarked;
