package peers

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The checkout's newest commit and its working tree are built into one program. That needs no module of others.
func TestLibraryOfAnEarlierCommitIsBuiltInBesideThis(t *testing.T) {
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "bench")
	if _, err := Build(t.Context(), dir, binary, Wanted{Before: "HEAD"}, t.Output()); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "version", "-m", binary).Output()
	if err != nil || !strings.Contains(string(out), beforeModule+"\t") {
		t.Errorf("%v, %s", err, out)
	}
	if _, err := Build(t.Context(), dir, binary, Wanted{Before: "no-such-commit"}, t.Output()); err == nil {
		t.Error("a commit that is not there was built in")
	}
}

// A peer that can't be had is named in a table, with a reason that is short enough for it.
func TestReasonIsTheFirstComplaint(t *testing.T) {
	for output, want := range map[string]string{
		"go: downloading example.com/gone v1.0.0\ngo: example.com/gone@v1.0.0: reading https://proxy/gone:  404\n": "go: example.com/gone@v1.0.0: reading … 404",
		"# example.com/bench\n./peer_wrong.go:5:18: cannot use \"a word\"\nand more\n":                             `./peer_wrong.go:5:18: cannot use "a word"`,
	} {
		if reason := (&buildError{nil, output}).reason(); reason != want {
			t.Errorf("%q, want %q", reason, want)
		}
	}
}
