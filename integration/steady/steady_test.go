package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// module writes a module with one test file and makes it the working directory.
func module(t *testing.T, body string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":      "module example.test/m\n\ngo 1.26\n",
		"sub/sub.go":  "package sub\n",
		"m_test.go":   "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\nvar _ = time.Now\n\n" + body,
		"ran/keep.me": "",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ran counts the runs that a test of the module noted by noteRun.
func ran(t *testing.T, name string) int {
	t.Helper()
	all, err := filepath.Glob("ran/" + name + "-*")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

const noteRun = `
func note(t *testing.T) (before int) {
	all, _ := os.ReadDir("ran")
	for _, e := range all {
		if len(e.Name()) > len(t.Name()) && e.Name()[:len(t.Name())+1] == t.Name()+"-" {
			before++
		}
	}
	f, err := os.CreateTemp("ran", t.Name()+"-")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	return before
}
`

func TestAFailedTestIsRunAgainOnlyAfterAStall(t *testing.T) {
	const failsOnce = noteRun + `
func TestGood(t *testing.T) { note(t) }
func TestFirst(t *testing.T) {
	if note(t) == 0 {
		t.Run("part", func(t *testing.T) { t.Error("what it says") })
	}
}
`
	for _, c := range []struct {
		name, body string
		stall      time.Duration
		runs       int
		passes     bool
		says       string
	}{
		{"a stall", failsOnce, time.Second, 2, true, "TestFirst of example.test/m failed while the machine stood still for 1s"},
		{"no stall", failsOnce, 0, 1, false, "TestFirst of example.test/m failed, and the machine ran"},
		{"a stall each time", noteRun + `func TestFirst(t *testing.T) { note(t); t.Error("always") }`, time.Second, 3, false, "failed 3 times"},
		{"a panic", noteRun + `func TestFirst(t *testing.T) { if note(t) == 0 { panic("no") } }`, time.Second, 1, false, "a panic"},
		{"an exit", noteRun + `func TestFirst(t *testing.T) { note(t) }
func TestMain(m *testing.M) { m.Run(); os.Exit(3) }`, time.Second, 1, false, "failed apart from its tests"},
		{"no such thing", "func TestFirst(t *testing.T) { note(t) }", time.Second, 0, false, "undefined: note"},
		{"all good", noteRun + `func TestFirst(t *testing.T) { note(t) }`, time.Second, 1, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, c.body)
			var out bytes.Buffer
			err := steady(&out, []string{"-count=1", "-timeout", "1m", "./..."}, func(time.Time, time.Time) time.Duration { return c.stall })
			if (err == nil) != c.passes || ran(t, "TestFirst") != c.runs {
				t.Errorf("%v after %d runs, want %d", err, ran(t, "TestFirst"), c.runs)
			}
			if err != nil {
				out.WriteString(err.Error())
			}
			if !strings.Contains(out.String(), c.says) {
				t.Errorf("%q is not in\n%s", c.says, &out)
			}
			if strings.Contains(c.body, "what it says") {
				for _, says := range []string{"--- FAIL: TestFirst/part", "what it says", "--- FAIL: TestFirst ", "FAIL\texample.test/m"} {
					if strings.Count(out.String(), says) != 1 {
						t.Errorf("%q is not once in\n%s", says, &out)
					}
				}
			}
			if n := ran(t, "TestGood"); n > 1 {
				t.Errorf("a test that passed was run %d times", n)
			}
		})
	}
}

// The process that watches is stopped with everything that it started, as a machine stops.
func TestAMachineThatStoodStillIsNoticed(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "steady")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	module(t, noteRun+`
func TestLate(t *testing.T) {
	before := note(t)
	began := time.Now()
	time.Sleep(500 * time.Millisecond)
	if before == 0 || time.Since(began) > time.Second {
		t.Error("late")
	}
}
`)
	var out bytes.Buffer
	cmd := exec.Command(binary, "-count=1", ".")
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ran(t, "TestLate") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the test does not begin")
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := syscall.Kill(-cmd.Process.Pid, s); err != nil {
			t.Fatal(err)
		}
		time.Sleep(700 * time.Millisecond)
	}
	if err := cmd.Wait(); err != nil || ran(t, "TestLate") != 2 {
		t.Errorf("%v after %d runs\n%s", err, ran(t, "TestLate"), &out)
	}
}

func TestStallsAreThoseOfATime(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1, 0).Add(time.Duration(ms) * time.Millisecond) }
	w := &watch{stalls: []stall{{at(1000), at(1400)}, {at(2000), at(2300)}}}
	for _, c := range []struct{ from, to, want int }{
		{0, 900, 0}, {0, 1001, 400}, {1100, 1200, 400}, {1399, 1900, 400}, {1401, 1999, 0}, {0, 3000, 400}, {1500, 3000, 300}, {2301, 9000, 0},
	} {
		if got := w.during(at(c.from), at(c.to)); got != time.Duration(c.want)*time.Millisecond {
			t.Errorf("from %d to %d: %v, want %d ms", c.from, c.to, got, c.want)
		}
	}
}

func TestFlagsEndWhereThePackagesBegin(t *testing.T) {
	for args, want := range map[string]int{"-race -count=1 -p 1 -timeout 10m ./... x": 6, "-race": 1, "./...": 0, "-run=x -p=1 ./a": 2} {
		if got := flagsOf(strings.Fields(args)); len(got) != want {
			t.Errorf("%s: %q", args, got)
		}
	}
}
