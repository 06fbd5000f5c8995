// Package javafair shows that rlock's fair lock and Redisson's RFairLock are one lock.
//
//   - [OnTheWire] has each side play the same scenes alone, and compares after every step what the server has:
//     keys, fields, the queue, the times, TTLs and messages. Scripts, their replies and what they call are each side's own.
//   - [TestOrderBesideJava] has three waiters of each side stand in one queue, the place of each confirmed before the next
//     comes, and demands that they enter in that order, many times.
//   - The others show what is left by those who are killed, interrupted, or give up, on both sides, and faults of Redisson
//     that this library does not share.
//
// With -full, as in make test-all, it is 200 rounds a release, and there are more releases and more tests.
//
// Package javamatrix plays the scenes, too.
package javafair
