package javapeer

import "testing"

func TestReleaseIsReadFromMavensList(t *testing.T) {
	const list = "\nThe following files have been resolved:\n   org.redisson:redisson:jar:4.7.0:compile -- module redisson [auto]\n\n"
	if version, err := parseReleased([]byte(list)); version != Newest || err != nil {
		t.Errorf("%q, %v", version, err)
	}
	for _, list := range []string{"", "\nThe following files have been resolved:\n   none\n", "org.redisson:redisson:jar:RELEASE:compile"} {
		if version, err := parseReleased([]byte(list)); err == nil {
			t.Errorf("%q is taken for %q", list, version)
		}
	}
}
