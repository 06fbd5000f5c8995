package pubsub

import "errors"

// reply is a decoded reply of the server. The connection speaks RESP2, where
// answers and messages come in one stream and differ by their first element
// only.
type reply struct {
	kind    replyKind
	sharded bool // it is about a sharded channel
	channel []byte
	payload []byte
	keys    [][]byte // of an invalidation, in place of payload; nil for all
}

type replyKind uint8

const (
	replyOther        replyKind = iota // something that concerns nobody here
	replyMessage                       // message, smessage
	replySubscribed                    // subscribe, ssubscribe
	replyUnsubscribed                  // unsubscribe, sunsubscribe
	replyPong                          // +PONG, or an array while something is subscribed
)

var errShape = errors.New("pubsub: unexpected answer: wrong shape")

// pushes are the arrays that concern the hub, by their first element.
var pushes = map[string]reply{
	"message":      {kind: replyMessage},
	"smessage":     {kind: replyMessage, sharded: true},
	"subscribe":    {kind: replySubscribed},
	"ssubscribe":   {kind: replySubscribed, sharded: true},
	"unsubscribe":  {kind: replyUnsubscribed},
	"sunsubscribe": {kind: replyUnsubscribed, sharded: true},
	"pong":         {kind: replyPong},
}

// decode reads what redigo returned. It fails if a known kind has the wrong
// elements, and if the answer to a command is unknown: then no later answer can
// be matched to its command.
func decode(v any) (r reply, err error) {
	if v == "PONG" {
		return reply{kind: replyPong}, nil
	}
	elements, _ := v.([]any)
	if len(elements) == 0 {
		return r, errShape
	}
	first, ok := text(elements[0])
	if !ok {
		return r, errShape
	}
	if r = pushes[string(first)]; r.kind == replyOther || r.kind == replyPong {
		return r, nil
	}
	if len(elements) != 3 {
		return r, errShape
	}
	if r.channel, ok = text(elements[1]); !ok {
		// UNSUBSCRIBE without channels, when there are none, names nil. It is
		// never sent here.
		return r, errShape
	}
	if r.kind == replyMessage {
		err = r.take(elements[2])
	}
	return r, err
}

// take takes what a message brings: its payload, or the keys in which a server tells of
// changes of what other connections have read (CLIENT TRACKING … REDIRECT). With nil all
// have changed.
func (r *reply) take(v any) error {
	keys, list := v.([]any)
	if v != nil && !list {
		var ok bool
		if r.payload, ok = text(v); !ok {
			return errShape
		}
		return nil
	}
	for _, k := range keys {
		key, ok := text(k)
		if !ok {
			return errShape
		}
		r.keys = append(r.keys, key)
	}
	if len(keys) == 0 {
		r.keys = [][]byte{nil}
	}
	return nil
}

// text accepts both string types of the protocol.
func text(v any) ([]byte, bool) {
	switch v := v.(type) {
	case []byte:
		return v, true
	case string:
		return []byte(v), true
	}
	return nil, false
}
