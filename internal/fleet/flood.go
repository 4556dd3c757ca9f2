package fleet

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// What an agent may send besides reports that were accepted: so much a second on average, and so
// much at once, which is what may queue while nobody reads. An agent sends some ten messages a
// second, and again those reports that were not acknowledged.
const (
	messagesPerSecondMax = 256 // messages of any kind
	freeBytesPerSecond   = 4 << 20
	messageBurstMax      = 2 * queuedMessagesMax
	byteBurstMax         = 2 * queuedBytesMax
)

// A budget measures how far an agent has exceeded what it may send (a leaky bucket). The zero
// value is empty.
type budget struct {
	messages, bytes float64
	at              time.Time
	dropped         int     // messages that were dropped because too many waited to be read
	read, squares   float64 // sums of the lengths of the messages that were read, and of their squares
}

// countDropped counts messages that were dropped since the last message that was read. It is
// called before countMessage, so that they count as sent in the time since then: a controller that
// has had no CPU for a while takes no agent for a flooder. Their lengths are unknown, and a full
// queue drops long messages sooner than short ones. So each counts as long as the messages that
// were read, in a mean weighted by length. If none was read, it counts as long as the next, which
// has length bytes.
func (b *budget) countDropped(n, length int) {
	each := float64(length)
	if b.read > 0 {
		each = b.squares / b.read
	}
	b.dropped += n
	b.messages += float64(n)
	b.bytes += float64(n) * each
}

// countMessage counts a message of so many bytes. It returns why that was too much, or "".
func (b *budget) countMessage(bytes int, now time.Time) string {
	if passed := now.Sub(b.at).Seconds(); !b.at.IsZero() && passed > 0 {
		b.messages = max(b.messages-passed*messagesPerSecondMax, 0)
		b.bytes = max(b.bytes-passed*freeBytesPerSecond, 0)
	}
	b.at = now
	b.messages++
	length := float64(bytes)
	b.bytes += length
	b.read, b.squares = b.read+length, b.squares+length*length
	why := ""
	switch {
	case b.messages > messageBurstMax:
		why = fmt.Sprintf("it floods: more than %d messages a second", messagesPerSecondMax)
	case b.bytes > byteBurstMax:
		why = fmt.Sprintf("it floods: more than %d MiB a second that nobody waits for",
			freeBytesPerSecond>>20)
	}
	if why != "" && b.dropped > 0 {
		why += fmt.Sprintf("; %d of its messages were dropped unread", b.dropped)
	}
	return why
}

// refundBytes removes the bytes of an accepted report. Its message stays counted: such reports
// are few.
func (b *budget) refundBytes(bytes int) { b.bytes = max(b.bytes-float64(bytes), 0) }

// newDrops returns how many messages sub has dropped since it had dropped so many.
func newDrops(sub *nats.Subscription, before int) int {
	all, err := sub.Dropped()
	if err != nil { // the subscription may have ended
		return 0
	}
	return max(all-before, 0)
}
