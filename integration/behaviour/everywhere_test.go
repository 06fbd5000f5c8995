package behaviour_test

import (
	"testing"

	"github.com/rlock-go/redisson/integration/redisserver"
)

// everywhere runs a test of what happens to a server on a process and in a container, each with a server of its own.
func everywhere(t *testing.T, test func(r *rig)) {
	t.Helper()
	for where, begin := range map[string]func(t *testing.T) redisserver.Server{
		"process":   func(t *testing.T) redisserver.Server { return redisserver.Local(t) },
		"container": func(t *testing.T) redisserver.Server { return redisserver.Container(t) },
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			test(on(t, begin(t)))
		})
	}
}

// part is a subtest with a rig of its own for the same server.
func (r *rig) part(behaviour string, test func(r *rig)) {
	r.Helper()
	r.Run(behaviour, func(t *testing.T) { test(on(t, r.Server)) })
}
