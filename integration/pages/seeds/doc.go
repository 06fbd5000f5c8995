// Package seeds holds no code but tests: they run the locks that five published descriptions print, script by script, on
// a real server, show what each answers and does wrong, and that the one which is Redisson's shares its state with ours.
// docs/dev/seeds.md is the account of them, with the tests of what this library does in the same places.
//
// The scripts are in the folder scripts, as they were printed, without remarks and with line breaks where the print had
// lost them:
//
//   - class: the pair of scripts with a RedisLock class, whose leases are in seconds.
//   - list: the lock that keeps flag and count and tells of a release by a list.
//   - spin: ReentrantDistributedLock, which has Redisson's lock script and tries without a pause.
//   - remedy: the hash that is to make a SETNX lock re-entrant.
//   - redisson312: the lock script of Redisson 3.12.3 to 3.18, quoted in the same text.
//
// The fifth description has no script of its own: it tells what Redisson keeps.
package seeds
