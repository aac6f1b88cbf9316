package org.jrdma.volume.model;

/**
 * The use of a volume at one moment.
 *
 * @param totalBytes the bytes for the data of files
 * @param freeBytes the bytes that can be allocated
 * @param files the number of files and folders
 */
public record VolumeUse(long totalBytes, long freeBytes, long files) {}
