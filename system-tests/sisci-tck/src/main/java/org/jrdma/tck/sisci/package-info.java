/**
 * What every libsisci must do, as JUnit classes: the software fabric and hardware run the same
 * ones.
 *
 * <p>{@link org.jrdma.tck.sisci.Fabric} says what is tested. What others do meanwhile, on other
 * nodes or in other processes of this one, stands in the tests as {@link org.jrdma.tck.sisci.Work},
 * which a {@link org.jrdma.tck.sisci.Peer} runs wherever it is.
 */
@NullMarked
package org.jrdma.tck.sisci;

import org.jspecify.annotations.NullMarked;
