package javamatrix

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/redisson/wire"
)

// TestWhatIsWrongIsRedAndNamed has a row for each way in which a pair can go wrong.
func TestWhatIsWrongIsRedAndNamed(t *testing.T) {
	s := server{Name: "redis-7.0", Version: "Redis 7.0.15"}
	for _, wrong := range []struct {
		name string
		pair pair
		want []string
	}{
		{"a difference", pair{Different: []different{{"final unlock", "call 2 differs\n"}}},
			[]string{"| **1** |", "\"final unlock\":\n\n```\ncall 2 differs\n```"}},
		{"a scenario that failed", pair{Unplayed: []string{"re-entry"}}, []string{"| **0, 1 failed** |", "The scenario \"re-entry\" failed."}},
		{"a justification too many", pair{Unused: []string{"hset"}}, []string{"| **0** |", "difference \"hset\" was not there."}},
		{"a behaviour that failed", pair{Failed: []string{"Names"}}, []string{"**1 failed**", "The behaviour Names failed."}},
		{"a pair that ended early", pair{Ended: "re-entry"}, []string{"given up", "given up at: re-entry."}},
	} {
		t.Run(wrong.name, func(t *testing.T) {
			right := wrong.pair
			p := &right
			p.Redisson, p.Server = "4.7.0", s.Name
			r := &run{Servers: []server{s}, Pairs: []*pair{{Redisson: "4.7.0", Server: s.Name}}}
			if r.red() || !strings.Contains(r.details(), "| 4.7.0 | works |\n") {
				t.Errorf("a pair with nothing wrong is red:\n%s", r.details())
			}
			r.Pairs = []*pair{p}
			page := r.details()
			if !r.red() {
				t.Error("not red")
			}
			for _, want := range append(wrong.want, "| 4.7.0 | **RED** |\n", "### 4.7.0 on Redis 7.0.15\n") {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q:\n%s", want, page)
				}
			}
		})
	}
	r := &run{Unbuilt: []string{"9.9.9: why"}}
	if page := r.details(); !r.red() || !strings.Contains(page, "Redisson 9.9.9: why") {
		t.Errorf("a release that does not build:\n%s", page)
	}
}

// TestAServerThatCanNotBeHadIsNamed asks for one on a machine without apt.
func TestAServerThatCanNotBeHadIsNamed(t *testing.T) {
	dir := t.TempDir()
	for _, tool := range []string{"bash", "mkdir", "rm", "grep"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	r := &run{NoNewest: "offline", Pairs: []*pair{{Redisson: "4.7.0", Server: "redis-7.0"}}}
	r.Servers = fetchServers(t, []string{"redis-8.0"})
	page := r.details()
	for _, want := range []string{
		"## Missing\n\n- redis-8.0: ", "needs apt-get", "- the newest Redisson: offline\n",
		"| Redisson | redis-8.0 |\n|---|---|\n| 4.7.0 | missing |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// TestAChangedByteTurnsTheMatrixRed plays scenarios with the unlock script changed in one byte, with the newest release
// and with one whose unlock has no latch, and wants the call that is wrong to be named.
func TestAChangedByteTurnsTheMatrixRed(t *testing.T) {
	s := server{Name: own, Version: "Redis"}
	for _, version := range []string{javapeer.Newest, javapeer.Oldest} {
		t.Run(version, func(t *testing.T) {
			p := play(t, version, s, part{
				scenarios: []string{"first acquire", "final unlock"},
				altered:   []wire.Altered{changedByte(t)},
			})
			r := &run{Servers: []server{s}, Pairs: []*pair{p}}
			page := r.details()
			if !r.red() {
				t.Error("the matrix is not red")
			}
			for _, want := range []string{
				"| " + version + " | **RED** |\n",
				"### " + version + " on Redis\n",
				"In the scenario \"final unlock\":\n\n```\nJava's call 2 and Go's call 2, unlock of order:17, differ:\n",
				"    go only:       hincrby order:17 OWNER1 -2",
			} {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q:\n%s", want, page)
				}
			}
			if strings.Contains(page, "In the scenario \"first acquire\"") {
				t.Errorf("what is right is told to differ:\n%s", page)
			}
		})
	}
}
