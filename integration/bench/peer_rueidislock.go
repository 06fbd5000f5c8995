//go:build rueidislock

package main

import (
	"context"
	"strings"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func init() { openers[rueidisP] = openRueidis }

type rueidisClient struct{ l rueidislock.Locker }

// openRueidis asks for one key instead of a majority of three, since there is one server, and for NoLoopTracking, which
// its documentation recommends for speed. TryNextAfter must then be raised: with its default of 20 ms an attempt that a
// busy machine delays for longer is given up, its key deleted, and the caller waits to be notified of that deletion,
// which NoLoopTracking holds back from the connection that deleted it. So a caller of a name that nobody else uses waits
// for ever; it was seen at 128 and 1,024 callers. Without NoLoopTracking the default does not hang, at about the same
// speed. Of a cluster, addr has several addresses; of Sentinels it is a URL, as rlock has it.
func openRueidis(addr string) (client, error) {
	var option rueidis.ClientOption
	if rest, ok := strings.CutPrefix(addr, "redis+sentinel://"); ok {
		addr, option.Sentinel.MasterSet, _ = strings.Cut(rest, "/")
	}
	option.InitAddress = strings.Split(addr, ",")
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   option,
		KeyMajority:    1,
		NoLoopTracking: true,
		TryNextAfter:   3 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	return rueidisClient{l}, nil
}

func (c rueidisClient) handle(name string) handle { return &rueidisHandle{l: c.l, name: name} }
func (c rueidisClient) close()                    { c.l.Close() }

type rueidisHandle struct {
	l      rueidislock.Locker
	name   string
	cancel context.CancelFunc
	held   context.Context
}

func (h *rueidisHandle) lock(ctx context.Context) (err error) {
	h.held, h.cancel, err = h.l.WithContext(ctx, h.name)
	return err
}

func (h *rueidisHandle) over() <-chan struct{} { return h.held.Done() }

func (h *rueidisHandle) unlock(context.Context) error {
	h.cancel() // returns when the key is deleted
	return nil
}
