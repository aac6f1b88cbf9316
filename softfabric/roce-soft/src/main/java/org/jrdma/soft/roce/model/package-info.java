/**
 * Values of the API of the software fabric, such as network faults, traced packets and packet
 * listeners.
 */
@NullMarked
package org.jrdma.soft.roce.model;

import org.jspecify.annotations.NullMarked;
