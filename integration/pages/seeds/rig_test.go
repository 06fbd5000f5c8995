package seeds

import (
	"embed"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "8") }

const (
	patience = testbed.Patience
	name     = "orders"
)

//go:embed scripts
var scripts embed.FS

// rig is a server, a connection that runs the printed scripts, and a client of this library.
type rig struct {
	*testbed.Rig
	c *rlock.Client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	r := testbed.New(t, redisserver.Local(t))
	return &rig{r, r.Open(r.Server.URL())}
}

// text returns a printed script.
func (r *rig) text(script string) string {
	r.Helper()
	b, err := scripts.ReadFile("scripts/" + script + ".lua")
	testbed.Must(r, err)
	return string(b)
}

// run runs a printed script and returns its reply, which may be nil.
func (r *rig) run(script string, keys []string, args ...any) (any, error) {
	r.Helper()
	words := []any{r.text(script), len(keys)}
	for _, k := range keys {
		words = append(words, k)
	}
	return r.Conn.Do("EVAL", append(words, args...)...)
}

// replies checks the reply of a printed script: want is nil or a number.
func (r *rig) replies(want any, script string, keys []string, args ...any) {
	r.Helper()
	got, err := r.run(script, keys, args...)
	if n, ok := want.(int); ok {
		want = int64(n)
	}
	if err != nil || got != want {
		r.Fatalf("%s %v %v: %v, %v; want %v", script, keys, args, got, err, want)
	}
}

func (r *rig) owner(s string) rlock.Owner {
	r.Helper()
	o, err := rlock.ParseOwner(s)
	testbed.Must(r, err)
	return o
}
