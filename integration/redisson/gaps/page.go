package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
)

// name is the table's.
const name = "gaps"

const head = "| fault | plain lock: Go | Redisson | fenced lock: Go | Redisson | semaphore: Go | Redisson | holds kept of 6: Go | Redisson | why Go must be behind |\n" +
	"|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"

// allowed is how far Go may be behind without a reason.
const allowed = time.Second

// wrong says where Go is behind without a reason.
func (r *result) wrong() (texts []string) {
	if r.gaps == nil {
		return []string{r.String() + ": it was not played"}
	}
	texts = r.behind(r.within)
	if g, j := r.kept["Go"], r.kept["Java"]; g < j {
		texts = append(texts, fmt.Sprintf("%v: Go keeps %d holds, Redisson %d", r, g, j))
	}
	return texts
}

// behind says what Go enters later than Redisson and than within.
func (r *result) behind(within time.Duration) (texts []string) {
	for _, kind := range kinds {
		if g, j := r.gaps["Go"+kind], r.gaps["Java"+kind]; g > max(j+allowed, within) {
			texts = append(texts, fmt.Sprintf("%v: Go enters a %s after %v, Redisson after %v", r, kind, g, j))
		}
	}
	return texts
}

func (r *result) line() string {
	cells := []string{r.String()}
	for _, kind := range kinds {
		for _, s := range sides {
			gap := r.gaps[s+kind]
			text := fmt.Sprintf("%.1f", gap.Seconds())
			if gap > lasts {
				text = fmt.Sprintf("over %.0f", lasts.Seconds())
			}
			cells = append(cells, text)
		}
	}
	why := r.why
	if len(r.behind(0)) == 0 {
		why = ""
	}
	return "| " + strings.Join(append(cells, fmt.Sprint(r.kept["Go"]), fmt.Sprint(r.kept["Java"]), why), " | ") + " |\n"
}

// table renders the results of a run in which so many faults were played at once.
func table(results []*result, beside int) string {
	var b strings.Builder
	load, _ := os.ReadFile("/proc/loadavg")
	redis, _ := exec.Command(cmp.Or(os.Getenv("RLOCK_REDIS_SERVER"), "redis-server"), "--version").Output()
	fmt.Fprintf(&b, "%s on %d cores, Redisson %s, %s; %d faults at once; the load averages at the end were %s.\n\n", runtime.Version(), runtime.NumCPU(),
		javapeer.Newest, strings.Join(strings.Fields(string(redis))[:3], " "), beside, strings.Join(strings.Fields(string(load))[:3], ", "))
	b.WriteString(head)
	for _, r := range results {
		b.WriteString(r.line())
	}
	return b.String()
}
