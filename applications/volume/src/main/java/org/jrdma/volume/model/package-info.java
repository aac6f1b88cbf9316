/**
 * The plain values of the volume: its exception, and descriptions of nodes and drives.
 *
 * <p>Every other package of the volume can use this package, which uses none of them.
 */
@NullMarked
package org.jrdma.volume.model;

import org.jspecify.annotations.NullMarked;
