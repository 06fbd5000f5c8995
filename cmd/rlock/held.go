package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/refusal"
	"github.com/rlock-go/redisson/rlock"
)

func heldCommand(s *server) *cobra.Command {
	return oneName(s, &cobra.Command{
		Use: "held NAME", Short: "Tell a script whether a lock is held",
		Long: `held has status 0 if somebody holds the lock, or a permit of that name, and 1 if
nobody does. It says who, and when the lease ends. Nothing is changed. It may be
otherwise a moment later: to do something alone, use "rlock run".`,
		RunE: serving(s, func(ctx context.Context, r *reader, args []string) error {
			st, err := r.one(ctx, args[0])
			if err != nil {
				return err
			}
			fmt.Printf("%s is %s\n", visible(st.Name), st.heldBy())
			if !st.held() {
				return &exit{1, nil}
			}
			return nil
		}),
	})
}

// heldBy says who holds the lock, and when its lease ends.
func (s *state) heldBy() string {
	switch {
	case s.Found != "":
		return "no lock, but a " + s.Found
	case s.Number != nil && s.Kind != permits:
		return "no lock, but a number, such as a semaphore's or a latch's"
	case !s.held():
		return "free"
	case s.Kind == permits:
		return "held by " + s.whose()
	}
	return fmt.Sprintf("held by %s, TTL %s", s.whose(), s.left())
}

func permitsCommand(s *server) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "permits NAME set N", Short: "Change how many permits a permit semaphore has",
		Long: `permits sets the number of all permits of a permit semaphore (Redisson's
RPermitExpirableSemaphore), the taken ones included. It says what it was, and
asks. If more are taken than there are then, nobody gets one until enough have
come back. Other semaphores have no such number: their clients add permits.`,
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	oneName(s, c)
	c.Args = cobra.ExactArgs(3)
	c.RunE = func(c *cobra.Command, args []string) error {
		n, err := strconv.Atoi(args[2])
		if args[1] != "set" || err != nil || n < 0 {
			return wrong("it is: rlock permits NAME set N")
		}
		return serving(s, func(ctx context.Context, r *reader, args []string) error { return r.setPermits(ctx, args[0], n, yes) })(c, args)
	}
	return c
}

func (r *reader) setPermits(ctx context.Context, name string, n int, yes bool) error {
	was, err := r.one(ctx, name)
	if err != nil {
		return err
	}
	if was.Found != "" || !slices.Contains([]string{"", permits, number}, was.Kind) {
		return wrong("%s has no permits: it is %s", visible(name), strings.TrimSpace(was.title()+" "+was.Found))
	}
	if was.Number == nil {
		fmt.Printf("%s does not exist\n", visible(name))
	} else {
		taken := int64(len(was.Holders)) + was.Expired + was.More
		fmt.Printf("%s has %d permits, of which %d are taken\n", visible(name), *was.Number+taken, taken)
	}
	if err := confirmed(ctx, yes, fmt.Sprintf("Set them to %d? [y/N] ", n)); err != nil {
		return err
	}
	client, err := r.open(ctx, rlock.WithConnectionName("rlock-cli"))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.NewPermitSemaphore(name).SetPermits(ctx, n); err != nil {
		return err
	}
	fmt.Printf("it has %d permits\n", n)
	return nil
}

// who says who holds the lock that was not acquired, or what else the key is. It returns
// err if it can't read that.
func (r *run) who(err error) error {
	_, noLock := errors.AsType[*codec.ShapeError](err)
	if said, _ := refusal.Of(err); !errors.Is(err, rlock.ErrLocked) && !noLock && said.Code() != "WRONGTYPE" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
	defer cancel()
	asks, wrong := r.reader()
	if wrong != nil {
		return err
	}
	defer asks.close()
	st, unread := asks.one(ctx, r.name)
	if unread != nil || !st.held() && st.Found == "" && st.Number == nil {
		return err
	}
	return fmt.Errorf("%s is %s", visible(r.name), st.heldBy())
}
