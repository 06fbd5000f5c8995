// Package loglimit keeps messages that repeat from filling a log.
//
// A [Limit] is of one message. The first of it, or the first few, are told at
// once. What comes within the half minute after that is held back: it is told
// at debug level only, and when the half minute is over the latest is told at
// the message's own level, with the number of those that were not as
// "suppressed". So one line each half minute follows for as long as more come,
// and after a half minute without any it begins anew.
//
// What a message warns of may end. [Limit.Over] then says how long it lasted
// and whether any line told of it, so that its end is told if its beginning
// was, and nothing is told late of what is well again.
package loglimit
