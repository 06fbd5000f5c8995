// Package severalservers runs the behaviour tests on a real cluster, while slots
// move between two of its masters, and behind Sentinels.
//
// The tests are those of package behaviour, built as they are and given a URL. What
// they find is theirs to say; this package moves the slots that they use, counts
// which server ran how many scripts, and lists the tests that make no sense here,
// each with its reason.
package severalservers
