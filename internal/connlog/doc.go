// Package connlog tells a logger of one connection's life: made, lost, ended
// while nobody needed it, not to be had, made again.
//
// Its one idea is the outage. It begins when a connection is missed and ends
// when there is one, with its length. What repeats is limited: an outage is
// told at its first failure and each half minute, so that a server that is
// away for an hour does not fill the log, and so are breaks of a network that
// comes and goes. A break that was held back has its end held back too.
package connlog
