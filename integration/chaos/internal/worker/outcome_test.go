package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/rlock"
)

// lost wraps an error without its text.
type lost struct{ error }

func (lost) Error() string { return "" }

func (l lost) Unwrap() error { return l.error }

func TestOutcomesThatNoContractNamesAreOdd(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	on := context.Background()
	acquire := func(err error) error { return fmt.Errorf("rlock: acquire \"x\": %w", err) }
	release := func(err error) error { return fmt.Errorf("rlock: release \"x\": %w", err) }
	away := func(err error) error { return errors.Join(rlock.ErrUnavailable, err) }
	for name, c := range map[string]struct {
		call call
		err  error
		want string
		odd  bool
	}{
		"none":                              {lockCall(on), nil, history.OK, false},
		"its context's":                     {lockCall(ended), acquire(context.Canceled), "context canceled", false},
		"a context's, but not its own":      {lockCall(on), acquire(context.Canceled), "a context's error that is not its own", true},
		"another than its context's":        {lockCall(ended), acquire(context.DeadlineExceeded), "a context's error that is not its own", true},
		"a timeout of the network":          {lockCall(on), acquire(away(&pipeline.NotSentError{Cause: &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}})), "unreachable", false},
		"locked":                            {tryLockCall(on), acquire(rlock.ErrLocked), "locked", false},
		"locked, before an answer came":     {tryLockForCall(on), acquire(fmt.Errorf("%w: the last attempt was not answered in time; whatever it took is given back", rlock.ErrLocked)), "locked, a grant may come", false},
		"locked, though it waits":           {lockCall(on), acquire(rlock.ErrLocked), rlock.ErrLocked.Error(), true},
		"uncertain":                         {lockCall(on), acquire(rlock.ErrUncertain), history.Uncertain, false},
		"uncertain before locked":           {tryLockCall(on), acquire(fmt.Errorf("%w: %w", rlock.ErrUncertain, rlock.ErrLocked)), history.Uncertain, false},
		"closed, though it is open":         {lockCall(on), acquire(rlock.ErrClosed), rlock.ErrClosed.Error(), true},
		"not sent":                          {lockCall(on), acquire(away(&pipeline.NotSentError{Cause: io.EOF})), "unreachable", false},
		"not sent, of an unlock":            {unlockCall(), release(away(&pipeline.NotSentError{Cause: io.EOF})), "unreachable", false},
		"not answered, of an unlock":        {unlockCall(), release(away(&pipeline.LostError{Cause: io.EOF})), "unanswered", true},
		"not answered":                      {lockCall(on), acquire(away(&pipeline.LostError{Cause: io.EOF})), "unanswered", false},
		"loading":                           {lockCall(on), acquire(away(redis.Error("LOADING wait"))), "unavailable: LOADING", false},
		"a script error":                    {lockCall(on), acquire(errors.Join(rlock.ErrRefused, redis.Error("ERR user_script:1: oops"))), "refused", true},
		"not sent, and of no kind":          {lockCall(on), acquire(&pipeline.NotSentError{Cause: io.EOF}), "a kind without a name", true},
		"released, replicas may not know":   {unlockCall(), release(rlock.ErrUnreplicated), "replicas may not know", false},
		"lost":                              {unlockCall(), release(errors.Join(lost{rlock.ErrLeaseLost}, lost{rlock.ErrNotHeld})), history.LostLease, false},
		"lost, but held":                    {unlockCall(), release(rlock.ErrLeaseLost), rlock.ErrLeaseLost.Error(), true},
		"not held":                          {unlockCall(), release(fmt.Errorf("%w%w", rlock.ErrNotHeld, lost{rlock.ErrLeaseLost})), history.NotHeld, false},
		"released, though it is the first":  {unlockCall(), release(rlock.ErrReleased), rlock.ErrReleased.Error(), true},
		"a text that does not say what for": {unlockCall(), fmt.Errorf(": %w%w", rlock.ErrNotHeld, lost{rlock.ErrLeaseLost}), history.NotHeld, true},
		"anything else":                     {lockCall(on), acquire(errors.New("oops")), "a kind without a name", true},
	} {
		got, why := c.call.judge(c.err)
		if got != c.want || (why != "") != c.odd {
			t.Errorf("%s: %q, %q", name, got, why)
		}
	}
}
