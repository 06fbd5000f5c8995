package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// bareParty sends what rlock sends in a hand-off and does nothing else. It is one thread, which sleeps in the kernel
// until its reply or message arrives. Its hand-offs cost only the kernel's and the server's time.
type bareParty struct {
	commands, messages *os.File // blocking
	owner              string
}

func barePartyMain(addr string) (err error) {
	defer caught(&err)
	runtime.LockOSThread()
	p := &bareParty{owner: codec.Owner(uuid.New(), 1)}
	for _, f := range []**os.File{&p.commands, &p.messages} {
		*f = must(dialFile(addr))
	}
	return partyMain(client{handle: p.handle})
}

func (p *bareParty) handle(name string) handle {
	h := &bareHandle{p: p}
	h.lockCall = encode("EVALSHA", luasrc.Lock(nil, name, p.owner, lease.Milliseconds()))
	h.subscribe = encodeWords("SUBSCRIBE", codec.Channel(name))
	h.unsubscribe = encodeWords("UNSUBSCRIBE", codec.Channel(name))
	h.unlockCall = encode("EVALSHA", luasrc.UnlockTo(nil, name, codec.Channel(name), p.owner, lease.Milliseconds(), luasrc.Left{}, luasrc.Publish))
	return handle{h.lock, h.unlock}
}

// bareHandle encodes its commands in advance.
type bareHandle struct {
	p                                            *bareParty
	lockCall, unlockCall, subscribe, unsubscribe []byte
	parted                                       chan error // result of the unsubscribe in the background
	reply                                        [512]byte
}

// ask sends command, if not nil, and returns what arrives then, up to that many lines.
func (h *bareHandle) ask(f *os.File, command []byte, lines int) (_ []byte, err error) {
	defer caught(&err)
	if command != nil {
		must(f.Write(command))
	}
	got := 0
	for bytes.Count(h.reply[:got], []byte("\n")) < lines {
		n := must(f.Read(h.reply[got:]))
		got += n
	}
	if h.reply[0] == '-' {
		return nil, fmt.Errorf("%s", h.reply[:got])
	}
	return h.reply[:got], nil
}

// Numbers of lines: a subscription's confirmation is an array of two strings and a number, a message one of three
// strings.
const (
	confirmationLines = 6
	messageLines      = 7
)

func (h *bareHandle) lock(context.Context) (err error) {
	defer caught(&err)
	granted, err := h.try()
	if granted || err != nil {
		return err
	}
	must(h.ask(h.p.messages, h.subscribe, confirmationLines))
	granted, err = h.try()
	for ; !granted && err == nil; granted, err = h.try() {
		must(h.ask(h.p.messages, nil, messageLines))
	}
	h.parted = make(chan error, 1)
	go func() {
		time.Sleep(answerPause / 2)
		_, err := h.ask(h.p.messages, h.unsubscribe, confirmationLines)
		h.parted <- err
	}()
	return err
}

func (h *bareHandle) try() (bool, error) {
	reply, err := h.ask(h.p.commands, h.lockCall, 1)
	if err != nil {
		return false, err
	}
	if string(reply) == "$-1\r\n" {
		return true, nil
	}
	_, err = strconv.Atoi(string(bytes.Trim(reply, ":\r\n")))
	return false, err
}

func (h *bareHandle) unlock(context.Context) error {
	if h.parted != nil {
		if err := <-h.parted; err != nil {
			return err
		}
		h.parted = nil
	}
	_, err := h.ask(h.p.commands, h.unlockCall, 1)
	return err
}
