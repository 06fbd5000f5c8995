package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Machine is where a run took place.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	Redis  string `json:"redis"`
	Java   string `json:"java"`
	Load   string `json:"load"` // load averages at the start: whether other programs ran

	// Stolen is the percentage of the cores' time that the hypervisor gave to other machines during the run.
	Stolen float64 `json:"stolen,omitempty"`
}

func describeMachine(s *server) Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), CPU: runtime.GOARCH}
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if key, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(key) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	m.Kernel = firstLine(os.ReadFile("/proc/sys/kernel/osrelease"))
	m.Load = firstLine(os.ReadFile("/proc/loadavg"))
	m.Java = firstLine(exec.Command("java", "-version").CombinedOutput())
	if text, err := s.conn.Do("INFO", "server"); err == nil {
		for line := range strings.SplitSeq(string(text.([]byte)), "\r\n") {
			if v, ok := strings.CutPrefix(line, "redis_version:"); ok {
				m.Redis = v
			}
		}
	}
	return m
}

// busy is the load average of the last minute before the run, 0 if it is unknown.
func (m Machine) busy() (load float64) {
	_, _ = fmt.Sscan(m.Load, &load)
	return load
}

// coreTime returns the time of all cores since boot, and how much of it the hypervisor gave to other machines, in
// ticks. Both are zero without /proc/stat.
func coreTime() (all, stolen float64) {
	line := firstLine(os.ReadFile("/proc/stat"))
	// The fields are: cpu user nice system idle iowait irq softirq steal. The later ones are included in user and nice.
	for i, text := range strings.Fields(line) {
		ticks, err := strconv.ParseFloat(text, 64)
		if err != nil || i > 8 {
			continue
		}
		all += ticks
		if i == 8 {
			stolen = ticks
		}
	}
	return all, stolen
}

func firstLine(b []byte, err error) string {
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}
