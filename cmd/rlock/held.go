package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/rlock"
)

func heldCommand(s *server) *cobra.Command {
	var output string
	c := oneName(s, &cobra.Command{
		Use: "held NAME", Short: "Tell a script whether a lock is held",
		Long: `held has status 0 if somebody holds the lock, or a permit of that name, or if the
lock is kept for the rest of an AtLeast, and 1 otherwise. It says who, and when
the lease ends. Nothing is changed. It may be otherwise a moment later: to do
something alone, use "rlock run". -o json prints what "rlock ls -o json" has of
each lock.`,
		RunE: serving(s, func(ctx context.Context, r *reader, args []string) error {
			st, err := r.one(ctx, args[0])
			if err == nil && (st.hidden() || !st.locked() && st.More > 0) {
				err = st.partly()
			}
			if err != nil {
				return err
			}
			switch output {
			case "json":
				if err := json.NewEncoder(os.Stdout).Encode(st); err != nil {
					return err
				}
			case "text":
				fmt.Printf("%s is %s\n", visible(st.Name), st.heldBy())
				if stale := r.stale(); stale != "" {
					fmt.Println(stale)
				}
			default:
				return wrong("-o is text or json")
			}
			if !st.locked() {
				return &exit{1, nil}
			}
			return nil
		}),
	})
	s.fromReplicas(c.Flags())
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return c
}

// heldBy says who holds the lock, and when its lease ends.
func (s *state) heldBy() string {
	switch {
	case s.Found != "":
		return "no lock, but " + s.noun()
	case s.Kind == semaphore:
		return "a semaphore, which nobody owns: " + plural(*s.Number, "permit") + " free"
	case s.Kind == latch:
		return fmt.Sprintf("a latch, which nobody owns: its count is %d", *s.Number)
	case s.Number != nil && s.Kind != permits:
		return "no lock, but " + s.noun()
	case s.KeptBy != "":
		return fmt.Sprintf("held by nobody: it was %s, %s", s.whose(), s.lasts())
	case !s.held():
		return "free"
	case s.Kind == permits:
		return "held by " + s.whose()
	}
	return fmt.Sprintf("held by %s, %s", s.whose(), s.lasts())
}

// who says who holds the lock that was not acquired, or what else the key is. It returns
// err if it can't read that.
func (r *run) who(err error) error {
	_, noLock := errors.AsType[*luasrc.ShapeError](err)
	if said, _ := redisconn.RefusalOf(err); !errors.Is(err, rlock.ErrLocked) && !noLock && said.Code() != "WRONGTYPE" {
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
	if unread != nil || !st.locked() && st.Found == "" && st.Number == nil {
		return err
	}
	return fmt.Errorf("%s is %s", visible(r.name), st.heldBy())
}
