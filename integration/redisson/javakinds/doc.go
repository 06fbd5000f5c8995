// Package javakinds shows that rlock's fair and read-write locks, permits, semaphores and count-down latches are Redisson's.
//
// A kind is a file: scenes that each side plays alone, after each step of which keys, fields, numbers, queues, times, TTLs,
// messages and answers must be alike, and what both show on one server. Package alike has the language of both, and plays
// them. Scripts, their replies and what they call are each side's own. What differs on purpose is named, and must differ.
//
// Beside these, a fair lock is entered in the order of its queue many times over, what ended waiters leave is passed, and
// faults of Redisson's that this library does not share are shown.
//
// With -full, as in make test-all, there are more releases, rounds and places. Package javamatrix plays the kinds, too.
package javakinds
