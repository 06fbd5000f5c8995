// Package severalservers runs the behaviour tests on a real cluster, while slots
// move between two of its masters, and behind Sentinels.
//
// The tests are those of package behaviour, built as they are and given a URL. This
// package moves the slots that they use, counts the scripts that each server ran,
// and lists the tests that make no sense here, each with its reason.
package severalservers
