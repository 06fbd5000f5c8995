// Package eventlog has the events of a client, and writes them to its caller's logger.
//
// An event is a call of a method: of a [Log] for a client, its locks and its servers, of
// a [Conn] for one connection. Its arguments are plain values, so code that counts or
// traces could take the same calls. docs/operations.md lists the lines that are written.
//
// # What repeats
//
// The first line of a message, or the first few, are written at once. Further ones in the
// half minute after that are held back: they are written at debug level only. When the
// half minute is over, the latest is written at the message's own level; "suppressed" is
// how many were held back. So while more come, one line each half minute follows. After
// a half minute without any, the first lines are written at once again.
//
// The trouble that a message warns of may end. Its end is written if its beginning was.
// After the end nothing is written of what was held back.
package eventlog
