package io.gsonfire;

/** What Debian does not have. */
public interface TypeSelector<T> {}
