package fleet

import (
	"fmt"
	"time"
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
}

// countMessage counts a message of so many bytes. It returns why that was too much, or "".
func (b *budget) countMessage(bytes int, now time.Time) string {
	if passed := now.Sub(b.at).Seconds(); !b.at.IsZero() && passed > 0 {
		b.messages = max(b.messages-passed*messagesPerSecondMax, 0)
		b.bytes = max(b.bytes-passed*freeBytesPerSecond, 0)
	}
	b.at = now
	b.messages++
	b.bytes += float64(bytes)
	switch {
	case b.messages > messageBurstMax:
		return fmt.Sprintf("it floods: more than %d messages a second", messagesPerSecondMax)
	case b.bytes > byteBurstMax:
		return fmt.Sprintf("it floods: more than %d MB a second that nobody waits for",
			freeBytesPerSecond>>20)
	}
	return ""
}

// refundBytes removes the bytes of an accepted report. Its message stays counted: such reports
// are few.
func (b *budget) refundBytes(bytes int) { b.bytes = max(b.bytes-float64(bytes), 0) }
