/**
 * The conformance kit for SISCI: JUnit classes that run on the software fabric and on hardware.
 *
 * <p>{@link org.jrdma.tck.sisci.FabricUnderTest} configures the fabric. The tests contain the
 * actions of other nodes and processes as {@link org.jrdma.tck.sisci.PeerTask}, which a {@link
 * org.jrdma.tck.sisci.Peer} runs.
 */
@NullMarked
package org.jrdma.tck.sisci;

import org.jspecify.annotations.NullMarked;
