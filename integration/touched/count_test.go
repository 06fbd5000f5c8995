package main

import (
	"strings"
	"testing"
)

// report is what covdata prints of one run.
const report = `github.com/rlock-go/redisson/codec/reply.go:23:		DecodeAcquire		66.7%
github.com/rlock-go/redisson/rlock/hold.go:121:		*Hold.trust		100.0%
github.com/rlock-go/redisson/rlock/hold.go:99:		*Hold.own		50.0%
github.com/rlock-go/redisson/rlock/extend.go:20:		*Hold.Extend		0.0%
github.com/rlock-go/redisson/integration/touched/pair/main.go:29:		run		40.0%
total		(statements)		4.8%
`

func counted(t *testing.T, texts ...string) count {
	t.Helper()
	c := count{}
	for _, text := range texts {
		if err := c.add(text); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestOnlyFunctionsOfTheLibraryThatRanAreCounted(t *testing.T) {
	const once = "github.com/rlock-go/redisson/rlock/lock.go:7: *Lock.Lock 100.0%\n"
	table := counted(t, report, report, report, once, report).table(true)
	want := `package                      functions files
codec                                1     1
    codec/reply.go:23 DecodeAcquire
rlock                                2     1
    rlock/hold.go:99 *Hold.own
    rlock/hold.go:121 *Hold.trust
all                                  3     2
`
	if table != want {
		t.Errorf("the table is\n%s\nnot\n%s", table, want)
	}
}

func TestARunWithoutTheLibraryIsAnError(t *testing.T) {
	for _, text := range []string{"", "total (statements) 0.0%\n", strings.ReplaceAll(report, "00.0%", "0.0%")[:20] + "\n"} {
		if err := (count{}).add(text); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}
