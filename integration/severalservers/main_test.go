package severalservers_test

import (
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/rlock-go/redisson/integration/testbed"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "severalservers-")
	if err != nil {
		log.Fatal(err)
	}
	bin = filepath.Join(dir, "behaviour.test")
	testbed.Main(within{m, dir}, "3")
}

// within is tests that have a folder.
type within struct {
	tests *testing.M
	dir   string
}

func (w within) Run() int {
	defer os.RemoveAll(w.dir)
	return w.tests.Run()
}
