package wire

import (
	"fmt"

	"github.com/nats-io/nats.go"
)

// Subscribe calls f with each message on a subject, in order and on a goroutine of its own, until
// the subscription ends. Messages that arrive meanwhile are queued up to the limits; others are
// dropped, so that nobody can fill the memory of a slow receiver.
func Subscribe(conn *nats.Conn, subject string, messages, bytes int, f func(*nats.Msg)) (
	*nats.Subscription, error) {
	sub, err := conn.Subscribe(subject, f)
	if err == nil {
		err = sub.SetPendingLimits(messages, bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("listening to %s: %w", subject, err)
	}
	return sub, nil
}
