/**
 * The plain values of SISCI: errors, events, states and capabilities that the library reports.
 *
 * <p>The objects that report them are in {@link org.jrdma.sisci}.
 */
@NullMarked
package org.jrdma.sisci.model;

import org.jspecify.annotations.NullMarked;
