// Package severalservers runs the behaviour tests on several real servers that
// share the slots, while slots move between them and one of them leaves.
//
// They are run on a real cluster as well, by a redis+cluster:// URL, and behind
// Sentinels, by a redis+sentinel:// URL.
//
// The tests are those of package behaviour, built as they are and given a URL. What
// they find is theirs to say; this package moves the slots that they use, counts
// which server ran how many scripts, and lists the tests that make no sense here,
// each with its reason.
package severalservers
