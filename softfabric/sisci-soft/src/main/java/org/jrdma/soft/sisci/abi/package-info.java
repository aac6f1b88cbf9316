/** What C sees of the fabric: the functions of libsisci, its handles and its constants. */
@NullMarked
package org.jrdma.soft.sisci.abi;

import org.jspecify.annotations.NullMarked;
