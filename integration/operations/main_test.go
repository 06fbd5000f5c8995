package operations_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/rlock-go/redisson/integration/internal/tool"
	"github.com/rlock-go/redisson/integration/testbed"
)

// program is the tool.
var program string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "tool")
	if err == nil {
		program, err = tool.Build(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testbed.Main(ending{m, folder}, "16")
}

// ending removes the tool behind the tests.
type ending struct {
	m      *testing.M
	folder string
}

func (e ending) Run() int {
	defer os.RemoveAll(e.folder)
	return e.m.Run()
}
