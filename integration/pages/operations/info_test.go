package operations_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// status has the page's code in a function.
func status(ctx context.Context, client *rlock.Client, name string) (string, error) {
	info, err := client.NewLock(name).Info(ctx)
	switch {
	case errors.Is(err, rlock.ErrNotLocked):
		return "nobody holds it", nil
	case info.Since.IsZero(): // another client holds it, or err is set
		return fmt.Sprintf("%v has %d holds, %v left, %d clients wait", info.Owner, info.Count, info.TTL, info.Waiters), err
	}
	return fmt.Sprintf("this client holds it since %v, %d clients wait", info.Since, info.Waiters), nil
}

func TestStatusAsOnThePage(t *testing.T) {
	t.Parallel()
	for topology, url := range map[string]func(*rig) string{
		"one server": func(r *rig) string { return "redis://" + r.server.Addr() },
		"Sentinels":  func(r *rig) string { return redistest.StartSentinels(r.T, redistest.SentinelPasswords{}).URL() },
		"a cluster":  func(r *rig) string { url, _, _ := r.cluster(); return url },
	} {
		t.Run(topology, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			at := url(r)
			holds, waits := r.openURL(at), r.openURL(at)
			if said, err := status(t.Context(), waits, "invoices"); said != "nobody holds it" || err != nil {
				t.Errorf("of a free lock: %s, %v", said, err)
			}
			h := r.Hold(holds.NewLock("invoices"))
			testbed.Enter(t.Context(), waits.NewLock("invoices"))
			r.Becomes("one client waits", func() bool {
				said, err := status(t.Context(), waits, "invoices")
				return err == nil && strings.HasPrefix(said, h.Owner().String()+" has 1 holds, ") && strings.HasSuffix(said, " left, 1 clients wait")
			})
			said, err := status(t.Context(), holds, "invoices")
			if err != nil || !strings.HasPrefix(said, "this client holds it since 2") {
				t.Errorf("of a hold of its own: %s, %v", said, err)
			}
			waits.Close()
			if _, err := status(t.Context(), waits, "invoices"); !errors.Is(err, rlock.ErrClosed) {
				t.Errorf("of a client that is closed: %v", err)
			}
		})
	}
}
