//go:build unix

package redisconn

import (
	"runtime"
	"syscall"
	"time"
)

// pollTime is for how long a reply is asked for before its reader sleeps.
// A Redis on the same machine answers in half of it.
const pollTime = 100 * time.Microsecond

// poller asks a connection again and again for what is about to come, before
// it is left to Go's network poller, where that is quicker: see pollChoice.
// Between two looks all other goroutines have run.
type poller struct {
	*socket
	ask    func(fd uintptr) bool // made once
	choice pollChoice
}

// newPoller is nil where there is no socket to ask: that of a connection with TLS
// does not say what will be read.
func newPoller(s *socket) *poller {
	if s == nil {
		return nil
	}
	o := &poller{socket: s}
	o.ask = o.poll
	return o
}

// read reads into p. It polls first; in trials only if that pays. Only trials look at
// the time.
func (o *poller) read(p []byte, try bool) (n int, err error) {
	if try && o.choice.decided == 0 {
		return o.compare(p)
	}
	if try {
		o.choice.decided--
	}
	if !try || o.choice.pays {
		if n, ok, err := o.tryRead(p); ok {
			return n, err
		}
	}
	return o.Read(p)
}

// compare is one read of a trial.
func (o *poller) compare(p []byte) (n int, err error) {
	start := time.Now()
	ok := false
	if o.choice.poll() {
		n, ok, err = o.tryRead(p)
	}
	if !ok {
		n, err = o.Read(p)
	}
	o.choice.took(time.Since(start))
	return n, err
}

// tryRead reads into p if something comes soon. It is not ok if nothing did, and
// then the read is still to be made.
func (o *poller) tryRead(p []byte) (n int, ok bool, err error) {
	n, err = o.readBy(o.ask, p)
	if o.readErr == syscall.EAGAIN {
		return 0, false, nil
	}
	return n, true, err
}

// poll asks until something is there or pollTime is over. It always reports
// true: nothing is to be waited for.
func (o *poller) poll(fd uintptr) bool {
	var start time.Time
	for i := 0; ; i++ {
		if o.lookOnce(fd) {
			return true
		}
		switch {
		case i == 0:
			start = time.Now()
		case time.Since(start) > pollTime:
			return true
		}
		runtime.Gosched()
	}
}
