package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gomodule/redigo/redis"
	"github.com/spf13/cobra"

	"github.com/rlock-go/redisson/rlock"
)

// permits reads the ids with their ends.
func (s *state) permits(reply any, now int64) {
	const never = 922337203685477
	pairs, _ := redis.ByteSlices(reply, nil)
	for i := 0; i+1 < len(pairs); i += 2 {
		h := holder{Owner: visible(string(pairs[i])), Count: 1, permit: true}
		if len(pairs[i]) == 16 { // Redisson 3.16.8 and older write the digits
			h.Owner = hex.EncodeToString(pairs[i])
		}
		if until, err := strconv.ParseFloat(string(pairs[i+1]), 64); err == nil && until < never {
			left := int64(until) - now
			if left <= 0 {
				s.Expired++
				continue
			}
			h.Expiry = &left
		}
		s.Holders = append(s.Holders, h)
	}
}

// hidden reports whether permits may be taken that could not be read.
func (s *state) hidden() bool {
	return !s.held() && s.Number != nil && (slices.Contains(s.Unread, "ZCARD") || slices.Contains(s.Unread, "ZRANGE"))
}

// free returns how many permits an acquire could have now, with those that it takes back because they have expired.
func (s *state) free() int64 { return *s.Number + s.Expired }

// taken returns how many permits have not expired.
func (s *state) taken() int64 { return int64(len(s.Holders)) + s.More }

func permitsCommand(s *server) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "permits NAME [set N | add N | release ID…]", Short: "Change how many permits a semaphore has, or release leaked ones",
		Long: `permits says how many permits there are. It asks before it changes anything:

  set N        a permit semaphore (RPermitExpirableSemaphore) has N permits, the
               taken ones included. If more are taken than that, nobody gets one
               until enough have come back
  add N        it has N permits more, as has a semaphore (RSemaphore), whose lost
               permits nobody can release because nobody owns them. To take some
               away, write -- before a negative N
  release ID…  permits of a permit semaphore are free again, all of these or none.
               "rlock show NAME" lists the ids. Their holders may still work

The status is 1 if you say no, or if one of the ids is not taken.`,
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	oneName(s, c)
	names := c.ValidArgsFunction
	c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return []string{"set", "add", "release"}, cobra.ShellCompDirectiveNoFileComp
		}
		return names(c, args, begun)
	}
	c.Args = cobra.MinimumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		change := permitChange{name: args[0], yes: yes}
		if len(args) == 2 {
			return errPermits
		}
		if len(args) > 2 {
			change.how, change.ids = args[1], args[2:]
		}
		if len(args) > 2 && change.how != "release" {
			n, err := strconv.Atoi(args[2])
			if len(args) != 3 || err != nil || change.how != "set" && change.how != "add" || n < 0 && change.how == "set" || n == 0 && change.how == "add" {
				return errPermits
			}
			change.n = n
		}
		return serving(s, func(ctx context.Context, r *reader, _ []string) error { return r.changePermits(ctx, change) })(c, args)
	}
	return c
}

var errPermits = wrong("it is: rlock permits NAME, or with set N, add N, or release ID…")

// permitChange is what is to be done to permits.
type permitChange struct {
	name, how string   // how is empty if they are only to be shown
	n         int      // of set and add
	ids       []string // of release
	yes       bool
}

func (r *reader) changePermits(ctx context.Context, change permitChange) error {
	was, err := r.one(ctx, change.name)
	if err == nil && was.hidden() {
		err = was.partly()
	}
	if err != nil {
		return err
	}
	name := visible(change.name)
	kinds := map[string][]string{"set": {"", permits, number}, "add": {permits, semaphore, number}, "release": {permits}, "": {permits, semaphore, number}}[change.how]
	switch {
	case was.Found == "" && was.Kind == "" && change.how != "set":
		return wrong("%s does not exist", name)
	case (was.Found != "" || !slices.Contains(kinds, was.Kind)) && change.how == "":
		return wrong("%s has no permits: it is %s", name, was.noun())
	case was.Found != "" || !slices.Contains(kinds, was.Kind):
		return wrong("%s has no permits that %q could change: it is %s", name, change.how, was.noun())
	}
	if fmt.Println(was.permitsText()); change.how == "" {
		return nil
	}
	question := map[string]string{
		"set": fmt.Sprintf("Set them to %d?", change.n), "add": fmt.Sprintf("Add %d?", change.n),
		"release": fmt.Sprintf("Release %s? The holder may still work.", plural(int64(len(change.ids)), "permit")),
	}[change.how]
	if err := confirmed(ctx, change.yes, question+" [y/N] "); err != nil {
		return err
	}
	client, err := r.open(ctx, rlock.WithConnectionName("rlock-cli"))
	if err != nil {
		return err
	}
	defer client.Close()
	switch sem := client.NewPermitSemaphore(change.name); {
	case change.how == "set":
		err = sem.SetPermits(ctx, change.n)
	case change.how == "release":
		err = sem.ReleaseIDs(ctx, change.ids...)
	case was.Kind == permits:
		err = sem.AddPermits(ctx, change.n)
	default:
		err = client.NewSemaphore(change.name).AddPermits(ctx, change.n)
	}
	if errors.Is(err, rlock.ErrNotHeld) {
		return &exit{1, errors.New("nothing was released: not all of these permits are taken, see rlock show")}
	}
	if err != nil {
		return err
	}
	now, err := r.one(ctx, change.name)
	if err != nil {
		return err
	}
	fmt.Println("now", now.permitsText())
	return nil
}

// permitsText says how many permits there are.
func (s *state) permitsText() string {
	name := visible(s.Name)
	switch {
	case s.Number == nil:
		return name + " does not exist"
	case s.Kind == semaphore || s.Kind == number && s.taken() == 0:
		return fmt.Sprintf("%s has %s", name, plural(s.free(), "free permit"))
	}
	are := "are"
	if s.taken() == 1 {
		are = "is"
	}
	return fmt.Sprintf("%s has %s, of which %d %s taken", name, plural(s.free()+s.taken(), "permit"), s.taken(), are)
}
