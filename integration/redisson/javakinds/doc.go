// Package javakinds shows that rlock's fair and read-write locks, permits, semaphores and latches work as Redisson's do.
//
// Each kind has scenes and shows. Each side plays a scene alone, and after each step keys, fields, numbers, queues, times,
// TTLs, messages and answers must be alike; the scripts and commands that a side sends may differ. Both sides play a show
// on one server. Package alike plays both and has their language. An intended difference is named, and must occur.
//
// Other tests show that waiters enter a fair lock in the order of its queue over many rounds, that places left by ended
// waiters are passed, and faults of Redisson that this library does not share.
//
// With -full, as in make test-all, there are more releases, rounds and topologies. Package javamatrix plays the kinds, too.
package javakinds
