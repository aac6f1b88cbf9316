/**
 * The values of the NVM Express base specification, revision 1.4: registers, commands, completions,
 * status codes and data structures. The driver and the software controller share them.
 *
 * <p>All structures are little-endian. A decoder accepts any contents, because the other side is
 * not trusted.
 */
@NullMarked
package org.jrdma.nvme.model;

import org.jspecify.annotations.NullMarked;
