/** The ABI of libsisci: its functions, handles and constants. */
@NullMarked
package org.jrdma.soft.sisci.abi;

import org.jspecify.annotations.NullMarked;
