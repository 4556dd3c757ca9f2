package say

import (
	"fmt"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// lossSentence is Sentence for requests of which latency tells nothing, or that were never sent; ""
// of another kind.
func lossSentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.ErrorAnswers:
		of := strings.Join(a.Of, ", ")
		if a.ProxyRefuses {
			of += ": the proxy wants another user and password in its URL"
		}
		if a.All {
			return "EVERY answer was an error (" + of + ")"
		}
		were := "were errors"
		if a.Count == 1 {
			were = "was an error"
		}
		return fmt.Sprintf("%s (%.2f %%) %s (%s): latency leaves them out, error latency has them",
			digits.Plural(a.Count, "answer"), a.Percent, were, of)
	case fact.RequestsFailed:
		return fmt.Sprintf("%.1f %% of the requests failed: latency is that of the others", a.Percent)
	case fact.RequestsUnanswered:
		return fmt.Sprintf("%.1f %% of the requests were unanswered at the end of the drain: mean "+
			"latency is that of the others, which were faster", a.Percent)
	case fact.RowsLeft:
		return fmt.Sprintf("the run ended before %s of %s rows of %s were sent", count(a.Left),
			count(a.Of), a.File)
	}
	return ""
}
