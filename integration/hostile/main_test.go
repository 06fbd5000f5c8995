package hostile

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Most rows wait for a timeout, so more of them than there are cores may wait together.
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "32"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
