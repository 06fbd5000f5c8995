package simnet

import (
	"context"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Dialer returns the dialer of one host.
func (w *World) Dialer(host string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		d := &dialing{w: w, host: host, address: address, done: make(chan struct{})}
		w.Mu.Lock()
		l := w.Between(host, address)
		w.After(w.latency(l)+l.Dialing, d.knock)
		resumes := w.paused[host]
		w.Mu.Unlock()
		select {
		case <-d.done:
		case <-ctx.Done():
		}
		for ; resumes != nil; w.Mu.Unlock() {
			<-resumes
			w.Mu.Lock()
			resumes = w.paused[host]
		}
		w.Mu.Lock()
		defer w.Mu.Unlock()
		d.over = true
		switch {
		case d.err != nil:
			return nil, d.failed(d.err)
		case d.conn == nil:
			return nil, d.failed(os.ErrDeadlineExceeded)
		case ctx.Err() != nil:
			d.conn.close()
			return nil, d.failed(os.ErrDeadlineExceeded)
		case w.Native:
			return Native{d.conn}, nil
		}
		return d.conn, nil
	}
}

type dialing struct {
	w             *World
	host, address string
	done          chan struct{}

	// Guarded by World.Mu.
	over bool // nobody waits for it
	conn *Conn
	err  error
}

func (d *dialing) failed(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

// knock is the arrival of a SYN.
func (d *dialing) knock() {
	if d.over {
		return
	}
	w := d.w
	h, l := w.hosts[d.address], w.Between(d.host, d.address)
	up, silent := false, true
	if h != nil {
		up, silent = h.Up()
	}
	switch {
	case silent || l.Blocked:
		w.After(time.Second, d.knock) // SYN again
		return
	case !up || l.Refused:
		d.err = os.NewSyscallError("connect", syscall.ECONNREFUSED)
	default:
		w.ports++
		c := &Conn{
			w: w, ID: w.ports, host: d.host, local: addr(d.host + ":" + strconv.Itoa(w.ports)), remote: addr(d.address), link: l,
			wake: make(chan struct{}, 1), roomy: make(chan struct{}, 1),
		}
		c.server = &Peer{c: c, Addr: d.address, Client: d.host, Remote: string(c.local), h: h}
		w.all = append(w.all, c)
		d.conn = c
		h.Accept(c.server)
	}
	close(d.done)
}
