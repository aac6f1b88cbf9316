/**
 * The wire format of RoCE v2: the opcodes, the headers that follow the UDP header, and the
 * checksum.
 */
@NullMarked
package org.jrdma.soft.roce.packet;

import org.jspecify.annotations.NullMarked;
