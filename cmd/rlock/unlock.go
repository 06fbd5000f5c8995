package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlock-go/redisson/rlock"
)

func unlockCommand(s *server) *cobra.Command {
	var force, yes bool
	c := &cobra.Command{
		Use: "unlock --force NAME", Short: "Free a lock, whoever holds it",
		Long: `unlock says whose the lock is, asks, deletes it, and wakes every client that
waits, on plain and on sharded channels. A holder in Go learns that at once, or
within two seconds if the lock was taken less than two seconds ago, and an
"rlock run" then ends its command. One in Java learns it when it asks or unlocks.
Until then two are inside.
If somebody waited, unlock looks for a second who has it next. With --yes it frees
whoever holds by then; else another holder than the one shown is left alone.

It is for locks. Permits are released by their ids, and a semaphore has no
owner.`,
	}
	c.Flags().BoolVar(&force, "force", false, "needed: nobody unlocks another's lock by mistake")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !force {
			return wrong("this frees a lock that somebody may rely on: say --force")
		}
		return serving(s, func(ctx context.Context, r *reader, args []string) error { return r.force(ctx, args[0], yes) })(c, args)
	}
	return oneName(s, c)
}

func (r *reader) force(ctx context.Context, name string, yes bool) error {
	was, err := r.one(ctx, name)
	if err != nil {
		return err
	}
	switch {
	case was.Found != "" || was.Kind == permits || was.Kind == number || was.Kind == semaphore || was.Kind == latch:
		return wrong("%s can't be unlocked: it is %s. Permits are released by their ids, other keys are no locks", visible(name), was.noun())
	case !was.locked():
		fmt.Printf("nobody holds %s\n", visible(name))
		return nil
	case was.Mode == "" && slices.Contains(was.Unread, "LRANGE"):
		return fmt.Errorf("not freed: it can't be told whether %s is a fair lock: %w", visible(name), was.partly())
	}
	if err := was.partly(); err != nil {
		fmt.Fprintln(os.Stderr, "rlock:", err)
	}
	question := "Free it? Its holder may still work."
	if was.KeptBy != "" {
		fmt.Printf("%s (%s) was %s\n", visible(name), was.title(), was.whose())
		question = "Free it before its AtLeast is over? Nobody holds it."
	} else {
		kind := map[string]string{"read": ", by readers", "write": ", by a writer"}
		fmt.Printf("%s (%s) is held by\n", visible(name), was.Kind+kind[was.Mode])
	}
	for _, h := range was.Holders {
		fmt.Printf("  %s\n", h)
	}
	fmt.Printf("%s, %s waiting\n", was.lasts(), was.waiters())
	if err := confirmed(ctx, yes, question+" [y/N] "); err != nil {
		return err
	}
	if !yes {
		// The holder may have changed while the user answered.
		now, err := r.one(ctx, name)
		if err != nil {
			return err
		}
		if now.locked() && (len(missing(now.Holders, was.Holders)) > 0 || now.KeptBy != was.KeptBy) {
			return &exit{1, errors.New("not freed: it has another holder by now, see rlock show")}
		}
	}
	client, err := r.open(ctx, rlock.WithConnectionName("rlock-cli"))
	if err != nil {
		return err
	}
	defer client.Close()
	gone, err := lockLike(client, was).ForceUnlock(ctx)
	if err != nil {
		return err
	}
	if !gone {
		fmt.Println("it was free by then")
		return nil
	}
	fmt.Printf("freed; it was %s\n", was.takenBy())
	if was.waiting() == 0 {
		return nil
	}
	var now *state
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if now, err = r.one(ctx, name); err != nil {
			return err
		}
		if now.locked() {
			fmt.Printf("%s now\n", now.takenBy())
			return nil
		}
	}
	fmt.Printf("free a second later, %s waiting, %s before: they may have had it for a moment\n", now.waiters(), was.waiters())
	return nil
}

// takenBy says why nobody else gets the lock.
func (s *state) takenBy() string {
	if s.KeptBy != "" {
		return s.whose()
	}
	return "held by " + s.whose()
}

// confirmed asks the user, unless --yes was given.
func confirmed(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if _, is := terminal(os.Stdin); !is {
		return wrong("standard input is no terminal, so nobody can be asked: say --yes")
	}
	fmt.Print(question)
	answers := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		answers <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case a := <-answers:
		if a == "y" || a == "yes" {
			return nil
		}
		return &exit{1, errors.New("nothing was changed")}
	case <-ctx.Done():
		fmt.Println()
		return ctx.Err()
	}
}

// lockLike returns a lock of the kind that was found.
func lockLike(c *rlock.Client, s *state) *rlock.Lock {
	switch {
	case s.Mode == "write":
		return c.NewReadWriteLock(s.Name).WriteLock()
	case s.Mode != "":
		return c.NewReadWriteLock(s.Name).ReadLock()
	case s.Kind == fair:
		return c.NewFairLock(s.Name)
	}
	return c.NewLock(s.Name)
}
