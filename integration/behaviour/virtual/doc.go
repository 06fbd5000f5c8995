// Package virtual has tests of the client's promises about time, in virtual time: the client and a model of the
// server run in one bubble of testing/synctest. So a bound is compared exactly, however busy the machine is.
package virtual
