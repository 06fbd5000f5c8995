// Package connlog tells a logger of one connection's life: made, lost, ended
// while nobody needed it, not to be had, made again.
//
// Its one idea is the outage. It begins when a connection is missed and ends
// when there is one. An outage is told at its first failure and at its end,
// with its length; what fails in between is told each half minute, and at
// debug level each time, so that a server that is away for an hour does not
// fill the log.
package connlog
