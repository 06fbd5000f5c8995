package testbed

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/rlock"
)

// Field is an owner as the server shows it. Owner.String would count as giving the owner away, and then a lost re-entry
// can't be judged by its count; a witness gives nothing away. The verb d shows an owner's numbers without String.
func Field(o rlock.Owner) string {
	var id uuid.UUID
	var thread int64
	words := strings.Fields(strings.NewReplacer("{", " ", "[", " ", "]", " ", "}", " ").Replace(fmt.Sprintf("%d", o)))
	for i, word := range words[:len(words)-1] {
		if _, err := fmt.Sscan(word, &id[i]); err != nil {
			panic(err)
		}
	}
	if _, err := fmt.Sscan(words[len(words)-1], &thread); err != nil {
		panic(err)
	}
	return fmt.Sprintf("%v:%d", id, thread)
}

// Holder is a hold's owner as the hold prints it, which hands it out to nobody:
// Hold.Owner would, and its unlock would be another.
func Holder(h *rlock.Hold) string {
	text := h.String()
	return strings.TrimSuffix(text[strings.LastIndex(text, ", ")+len(", "):], ")")
}
