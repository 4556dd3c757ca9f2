package wire

import (
	"fmt"

	"github.com/nats-io/nats.go"
)

// Subscribe hands each message on a subject to f, one after the other and on a goroutine of its
// own, until the subscription ends. Of those that come meanwhile so many wait, with so many bytes
// in all; what comes then is lost, so that nobody fills the memory of whoever is slow to listen.
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
