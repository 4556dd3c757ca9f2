package fleet

import (
	"fmt"
	"time"
)

// What an agent may say that is not a report that was waited for: so much a second, and so much at
// once, which is what may wait to be read if nobody reads for a while. An agent says some ten
// messages a second, and reports again that were not acknowledged.
const (
	messagesPerSecondMax = 256 // messages, of whatever sort
	freeBytesPerSecond   = 4 << 20
	messageBurstMax      = 2 * queuedMessagesMax
	byteBurstMax         = 2 * queuedBytesMax
)

// A budget is what an agent has said beyond what it may. The zero value is nothing.
type budget struct {
	messages, bytes float64
	at              time.Time
}

// countMessage counts a message of so many bytes, and is why that was too much; "" if it was not.
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

// refundBytes takes back what was counted of the bytes of a message that was waited for. There
// are few of these, so as messages they count.
func (b *budget) refundBytes(bytes int) { b.bytes = max(b.bytes-float64(bytes), 0) }
