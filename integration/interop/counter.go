package interop

import (
	"slices"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
)

const (
	goProcesses    = 2
	workersOfEach  = 4
	warmRounds     = 250
	briefly        = 5 * time.Second
	veryBriefly    = 2 * time.Second
	thinking       = 2 * time.Millisecond
	timeToGetReady = time.Second
	// Java's waiters may miss a message, and enter then when a lease of 30 s is over.
	timeToEnd = 60 * time.Second
)

// counterIsExactAcrossProcesses has one Java and two Go processes count in one key, all at once. An update that got lost
// would be two inside at once.
func counterIsExactAcrossProcesses(s *scene) {
	ctx := s.Context()
	counter, duration := s.name+":counter", s.Counting
	s.must(s.java.Warm(ctx, s.name+":warm", workersOfEach, warmRounds))
	var processes []*process
	for range goProcesses {
		processes = append(processes, s.launch(order{
			Counter: counter, Workers: workersOfEach, Rounds: warmRounds, Hold: time.Millisecond, For: duration,
		}))
	}

	start := machineclock.Now() + timeToGetReady.Nanoseconds()
	var think time.Duration
	if s.kind == javapeer.Spin {
		// A thread that releases and asks at once would get it again and again, while all others pause.
		think = thinking
	}
	inJava := background(func() (javapeer.WorkResult, error) {
		return s.java.Work(ctx, javapeer.Work{
			Name: s.name, Kind: s.kind, Counter: counter, Workers: workersOfEach, Hold: time.Millisecond, Think: think, For: duration, StartAt: start,
		})
	})
	var inGo []<-chan outcome[tally]
	for _, p := range processes {
		inGo = append(inGo, background(func() (tally, error) { return p.count(start) }))
	}
	var goTotal int64
	for i, c := range inGo {
		r := awaitFor(s, duration+timeToEnd, c)
		goTotal += sum(r.PerWorker)
		s.Logf("Redisson %s: Go process %d counted %d, by worker %v, late %d", s.version, i+1, sum(r.PerWorker), r.PerWorker, r.Late)
	}
	java := awaitFor(s, duration+timeToEnd, inJava)
	s.Logf("Redisson %s: Java counted %d, by worker %v, late %d, waits p50 %v, p99 %v, max %v",
		s.version, java.Total, java.PerWorker, java.Late, java.WaitP50, java.WaitP99, java.WaitMax)
	if begun := time.Duration(java.Started - start); begun < 0 || begun > duration/2 {
		s.Errorf("Java began %v after the instant for all", begun)
	}

	total := goTotal + java.Total
	counted, err := redis.Int64(s.redis.Do("GET", counter))
	s.must(err)
	s.Logf("Redisson %s: %d in %v; shares: Java %.1f%%, Go %.1f%%",
		s.version, counted, duration, 100*float64(java.Total)/float64(total), 100*float64(goTotal)/float64(total))
	if counted != total {
		s.Errorf("the counter says %d, those who counted %d: %d updates were lost", counted, total, total-counted)
	}
	if goTotal == 0 || java.Total == 0 {
		s.Error("one side never entered")
	}
	_, err = s.redis.Do("DEL", counter)
	s.must(err)
	s.serverHas(nil)
}

func sum(n []int64) int64 {
	var total int64
	for v := range slices.Values(n) {
		total += v
	}
	return total
}
