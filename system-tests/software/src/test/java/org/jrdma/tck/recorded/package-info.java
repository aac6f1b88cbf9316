/**
 * What no fabric at hand offers, on a libibverbs in C that records what reaches it and answers as
 * each test says. Nothing of it was run on hardware.
 */
package org.jrdma.tck.recorded;
