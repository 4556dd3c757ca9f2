package say

import (
	"fmt"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// streamSentence is Sentence for streams of events; "" of another kind.
func streamSentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.EventsGathered:
		return fmt.Sprintf("%s %% of the events came together with others: the server, or a proxy in "+
			"front of it, gathers them (nginx: proxy_buffering off)", digits.Significant(a.Percent, 2))
	case fact.GapsBunched:
		return fmt.Sprintf("%s %% of the gaps are about 40 ms, and events come together: Nagle's "+
			"algorithm waits for delayed acknowledgements; set TCP_NODELAY in the server",
			digits.Significant(a.Percent, 2))
	case fact.WarmupShort:
		return fmt.Sprintf("the median stream takes %s, and the warm-up only %s: the first streams "+
			"began all at once and are in the figures", digits.Micros(a.StreamUS), digits.Micros(a.WarmupUS))
	case fact.TokensUntold:
		return fmt.Sprintf("%s of %s ended without the server's number of tokens: token times are those "+
			"of the other streams; OpenAI's API sends the number if the request has "+
			`"stream_options": {"include_usage": true}`, count(a.Streams), digits.Plural(a.Of, "stream"))
	case fact.TokensLeft:
		return fmt.Sprintf("users left %s of %s before the server sent the number of tokens: the token "+
			"time of these streams is not known, and a goodput limit on token time counts as missed",
			count(a.Streams),
			digits.Plural(a.Of, "stream"))
	}
	return ""
}
