/** The ABI of the software libsisci: exported C functions, handles and constants. */
@NullMarked
package org.jrdma.soft.sisci.abi;

import org.jspecify.annotations.NullMarked;
