package javapeer

import (
	"slices"
	"testing"
)

const (
	// Newest is the Redisson release whose bytes the library reproduces.
	Newest = "4.7.0"
	// Oldest is the first release that was looked at.
	Oldest = "3.11.6"
)

// Recorded are all the releases whose traffic was looked at.
var Recorded = []string{Newest, "4.3.0", "3.52.0", "3.37.0", "3.27.2", "3.21.3", "3.16.8", Oldest}

// Versions are the releases that interoperation tests run against: the newest
// and the oldest; in full, all that were recorded.
func Versions(full bool) []string {
	if full {
		return Recorded
	}
	return []string{Newest, Oldest}
}

// Beside runs a test beside each of some releases, all at once.
func Beside(t *testing.T, versions []string, test func(t *testing.T, version string)) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, version)
		})
	}
}

// FencedVersions are the releases that tests of [Fenced] run against: the newest of each line; in full, all that were
// recorded and have it.
func FencedVersions(full bool) []string {
	if full {
		return slices.DeleteFunc(slices.Clone(Recorded), func(v string) bool { return v == Oldest || v == "3.16.8" })
	}
	return []string{Newest, "3.52.0"}
}

// SpinVersions are the releases that tests of [Spin] run against: the newest and one without latches; in full, all that
// were recorded and have it.
func SpinVersions(full bool) []string {
	if full {
		return slices.DeleteFunc(slices.Clone(Recorded), func(v string) bool { return v == Oldest })
	}
	return []string{Newest, "3.21.3"}
}

// FairVersions are the releases that tests of [Fair] run against: the newest; in full, all that were recorded but [Oldest],
// which keeps no order.
func FairVersions(full bool) []string {
	if full {
		return SpinVersions(full)
	}
	return []string{Newest}
}

// ReadWriteVersions are the releases that tests of [Read] and [Write] run against: the newest and one without latches; in
// full, all that were recorded.
func ReadWriteVersions(full bool) []string {
	if full {
		return Recorded
	}
	return []string{Newest, "3.21.3"}
}
