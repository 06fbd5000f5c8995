// Package seeds holds no code but tests. They run the locks of five published descriptions, script by script, on a real
// server, and show what each script answers and does wrong, and that Redisson's script shares its state with ours.
// docs/dev/seeds.md describes the scripts, and names this library's tests for the same cases.
//
// The folder scripts has the scripts as they were printed, without remarks, and with the line breaks that the print had
// lost:
//
//   - class: the pair of scripts with a RedisLock class, whose leases are in seconds.
//   - list: the lock that keeps flag and count and tells of a release by a list.
//   - spin: ReentrantDistributedLock, which has Redisson's lock script and tries without a pause.
//   - remedy: the hash that is to make a SETNX lock re-entrant.
//   - redisson312: the lock script of Redisson 3.12.3 to 3.18, quoted in the same text.
//
// The fifth description has no script of its own: it tells what Redisson keeps.
package seeds
