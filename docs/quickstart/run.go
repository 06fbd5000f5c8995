package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// watchdogTimeout is the lease of a lock that is held without a lease of its
// own. The library's default of 30 s would make a slow show.
const watchdogTimeout = 1500 * time.Millisecond

// patience is for a server that does not answer as the story wants.
const patience = 20 * time.Second

// run tells the whole story to out. An empty url means an embedded server.
func run(ctx context.Context, out io.Writer, url string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tell := newTimeline(out)
	if url == "" {
		server, err := startEmbedded()
		if err != nil {
			return err
		}
		defer server.stop()
		url = server.url()
		tell.note("Redis: miniredis inside this process. Its TTLs do not run by themselves;")
		tell.note("a ticker moves them on. REDIS_URL=redis://host:port uses a real server.")
	} else {
		tell.note("Redis: what REDIS_URL names.")
	}
	billing, err := openService(ctx, "billing", url)
	if err != nil {
		return err
	}
	defer billing.close()
	shipping, err := openService(ctx, "shipping", url)
	if err != nil {
		return err
	}
	defer shipping.close()

	// A name of its own, so that two runs on one server leave each other alone.
	name := "quickstart:" + billing.client.ID().String()[:8]
	billing.lock = billing.client.NewLock(name)
	shipping.lock = shipping.client.NewLock(name)
	tell.note("Lock:  %s, a lease of %v; the watchdog extends it every third of that.", name, watchdogTimeout)

	for _, s := range []struct {
		title string
		play  func(context.Context, *timeline, *service, *service) error
	}{
		{"One holds, the other waits and is woken by a message", contend},
		{"An owner may enter again, others may not", reenter},
		{"The watchdog extends the lease while the work lasts", outlast},
		{"A holder learns that it lost the lock", lose},
	} {
		tell.title(s.title)
		if err := s.play(ctx, tell, billing, shipping); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
	}
	tell.note("")
	tell.note("Done in %.1f s.", tell.elapsed().Seconds())
	return nil
}

// work is what a service does while it holds the lock.
func work(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
