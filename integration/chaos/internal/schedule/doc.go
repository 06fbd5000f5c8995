// Package schedule draws faults from a seed.
//
// A schedule is a list of faults with their offsets from the start of the run, and nothing else decides what happens
// when: the same seed and the same sizes give the same list. Storms of faults alternate with calm stretches, in which
// bounds are tight. Network, server, replica and process faults run at the same time, but no two faults of the server
// overlap, and no two of one process.
package schedule
