// Package javareadwrite shows that rlock's read-write lock and Redisson's RReadWriteLock are one lock.
//
//   - [OnTheWire] has each side play the same scenes alone, and compares after every step what the server
//     has: keys, fields, TTLs and messages. Scripts, their replies and what they call are each side's own. What differs on
//     purpose is named, and must differ.
//   - [BesideJava] has readers and writers of both sides share one lock, and fails if a reader and a writer, or two
//     writers, were in at once.
//   - [TestJavasFaults] shows what Redisson does that this library does not share, and what a JVM does to a Go reader.
//
// Package javamatrix plays both, too.
package javareadwrite
