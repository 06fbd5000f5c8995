// Package eventlog has the events of a client, and writes them to its caller's logger.
//
// An event is a call of a method: of a [Log] for what happens to a client, its locks
// and its servers, of a [Conn] for what happens to one connection. It is told in plain
// values and knows nothing of what it comes from, so that whoever counts or traces can
// hear the same calls. docs/operations.md lists the lines that are written.
//
// # What repeats
//
// The first line of a message, or the first few, are written at once. What comes within
// the half minute after that is held back: it is written at debug level only, and when
// the half minute is over the latest is written at the message's own level, with the
// number of those that were not as "suppressed". So one line each half minute follows
// for as long as more come, and after a half minute without any it begins anew.
//
// What a message warns of may end. Then its end is written if its beginning was, and
// nothing is written late of what is well again.
package eventlog
