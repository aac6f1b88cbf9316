package org.jrdma.prose;

/**
 * A piece of text that people read: a paragraph, a comment or a message.
 *
 * @param file the path of the file in the repository
 * @param line the number of the line in which the text starts
 * @param words the text on one line, without markup and code
 */
record TextWithLocation(String file, int line, String words) {}
