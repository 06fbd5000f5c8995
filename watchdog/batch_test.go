package watchdog

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

const crowd = 10_000

// delayed renews all leases a little later than asked, and says that each was sent at another
// moment, as a busy pipeline does.
func delayed(c call) {
	time.AfterFunc(20*time.Millisecond, func() {
		for i := range c.batch {
			spread := time.Duration(i) * 7919 * time.Microsecond % (15 * time.Millisecond)
			c.answer(i, Answer{Result: Renewed, Sent: c.at + spread, TTL: testTTL})
		}
	})
}

func TestCrowdCostsOneBatchAThirdMoreThanItFills(t *testing.T) {
	const third = testTTL / 3
	for _, c := range []struct {
		name  string
		over  time.Duration // the time over which the acquires are spread
		reply func(call)
	}{
		{"burst", 0, always(renewed)},
		{"burst, answers delayed", 0, delayed},
		{"spread over a third", third, always(renewed)},
		{"spread over a third, answers delayed", third, delayed},
		{"spread over the TTL", testTTL, always(renewed)},
		{"spread over half a second", 500 * time.Millisecond, delayed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, c.reply)
				for i := range crowd {
					if c.over > 0 {
						time.Sleep(c.over*time.Duration(i+1)/crowd - c.over*time.Duration(i)/crowd)
					}
					w.hold()
				}
				time.Sleep(5 * third)
				synctest.Wait()
				checkBatches(t, w, crowd/MaxBatch+1)
			})
		})
	}
}

// Keys that the server received together lie together in its memory, so a batch keeps its order.
func TestABatchOfACrowdKeepsItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		for range crowd {
			w.hold()
		}
		time.Sleep(5 * testTTL / 3)
		synctest.Wait()
		last := make(map[*Lease][]*Lease, crowd) // the batch that a lease was in
		again := 0
		for _, c := range w.server.seen() {
			if before := last[c.batch[0]]; before != nil {
				if again++; !slices.Equal(before, c.batch) {
					t.Fatalf("the batch at %v is another than that of its first lease a third before, or has another order", c.at)
				}
			}
			for _, l := range c.batch {
				last[l] = c.batch
			}
		}
		if again < 3*crowd/MaxBatch {
			t.Errorf("%d batches were renewed again", again)
		}
	})
}

// checkBatches checks the number of batches in every third that begins with a batch, and the time
// between two renewals of each lease.
func checkBatches(t *testing.T, w *world, most int) {
	t.Helper()
	calls := w.server.seen()
	last := make(map[*Lease]time.Duration)
	renewals := make(map[*Lease]int)
	for i, c := range calls {
		if len(c.batch) > MaxBatch {
			t.Fatalf("a batch of %d", len(c.batch))
		}
		n := 0
		for _, d := range calls[i:] {
			if d.at < c.at+testTTL/3 {
				n++
			}
		}
		if n > most {
			t.Fatalf("%d batches within a third from %v on, want at most %d", n, c.at, most)
		}
		for _, l := range c.batch {
			if before, ok := last[l]; ok {
				if gap := c.at - before; gap < testTTL/6 || gap > testTTL/3+50*time.Millisecond {
					t.Fatalf("renewed again after %v", gap)
				}
			}
			last[l] = c.at
			renewals[l]++
		}
	}
	if len(renewals) != crowd {
		t.Fatalf("%d leases were renewed, want %d", len(renewals), crowd)
	}
	for _, n := range renewals {
		if n < 4 {
			t.Fatalf("a lease was renewed %d times in five thirds", n)
		}
	}
	if lost := w.holder.lost(); len(lost) != 0 {
		t.Fatalf("%d were lost", len(lost))
	}
}

func TestBatchReachesASixthAheadAndNoFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		for _, at := range []time.Duration{0, 2 * time.Second, 5 * time.Second, 6 * time.Second} {
			time.Sleep(at - w.clock.Now())
			w.hold()
		}
		time.Sleep(16*time.Second - w.clock.Now())
		synctest.Wait()
		calls := w.server.seen()
		wantTimes(t, "batches", w.server.times(), 10*time.Second, 16*time.Second)
		if len(calls[0].batch) != 3 || len(calls[1].batch) != 4 {
			t.Fatalf("batches of %d and %d", len(calls[0].batch), len(calls[1].batch))
		}
	})
}

// A lease whose renewal always fails neither spoils the batches of others nor makes them early.
func TestH2FailingLeaseTravelsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var poisoned *Lease
		w := newWorld(t, func(c call) {
			for i, l := range c.batch {
				a := Answer{Result: Renewed, Sent: c.at, TTL: testTTL}
				if l == poisoned {
					a = failed
				}
				c.answer(i, a)
			}
		})
		poisoned = w.hold()
		for range 500 {
			time.Sleep(20 * time.Millisecond)
			w.hold()
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		with := 0
		for _, c := range w.server.seen() {
			for _, l := range c.batch {
				if l == poisoned && len(c.batch) > 1 {
					with++
				}
			}
		}
		if with > 1 {
			t.Fatalf("it was in %d batches with others, want the first only", with)
		}
		wantLoss(t, w.holder, poisoned, ErrExpired, Trust(0, testTTL))
	})
}

// A lease that has recovered is renewed together with the others again.
func TestRecoveredLeaseJoinsTheOthers(t *testing.T) {
	for name, recover := range map[string]func(l *Lease){
		"by a retry":   func(*Lease) {},
		"by new terms": func(l *Lease) { newTerms(l, 11*time.Second, Never) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				w := newWorld(t, func(c call) {
					if tries++; tries == 1 {
						always(failed)(c)
						return
					}
					always(renewed)(c)
				})
				l := w.hold()
				time.Sleep(10100 * time.Millisecond)
				synctest.Wait()
				w.hold()
				recover(l)
				time.Sleep(12 * time.Second)
				synctest.Wait()
				calls := w.server.seen()
				if last := calls[len(calls)-1]; len(last.batch) != 2 || last.at != 20100*time.Millisecond {
					t.Fatalf("the last batch has %d leases, at %v", len(last.batch), last.at)
				}
			})
		})
	}
}

// A shard that does not answer delays no lease of another shard.
func TestSlowShardDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := make(map[*Lease]bool)
		w := newWorld(t, func(c call) {
			for i, l := range c.batch {
				if !slow[l] {
					c.answer(i, Answer{Result: Renewed, Sent: c.at, TTL: testTTL})
				}
			}
		})
		for range 250 {
			slow[w.hold()] = true
			w.hold()
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		lost := w.holder.lost()
		for _, l := range lost {
			if !slow[l.lease] {
				t.Fatal("a lease of the quick shard was lost")
			}
		}
		if len(lost) != 250 {
			t.Fatalf("%d lost, want 250", len(lost))
		}
		wantLive(t, w.Watchdog, 250)
	})
}
