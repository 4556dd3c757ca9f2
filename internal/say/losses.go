package say

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// lossSentence is Sentence for requests of which latency tells nothing, or that were never sent; ""
// of another kind.
func lossSentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.ErrorAnswers:
		of := wrongAnswers(a)
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
		return fmt.Sprintf("%s (%s %%) %s, which the latency leaves out: %s",
			digits.Plural(a.Count, "answer"), digits.Significant(a.Percent, 2), were, of)
	case fact.RequestsFailed:
		return fmt.Sprintf("%.1f %% of the requests failed: latency is that of the others", a.Percent)
	case fact.RequestsUnanswered:
		return fmt.Sprintf("%.1f %% of the requests were unanswered at the end of the drain: mean "+
			"latency is that of the others, which were faster", a.Percent)
	case fact.RowsLeft:
		return fmt.Sprintf("%s of the %s rows of %q were not sent before the run ended", count(a.Left),
			count(a.Of), a.File)
	}
	return ""
}

// wrongAnswers are what answers that were errors were: `status 404, 503; check "price" failed,
// status 200`.
func wrongAnswers(a fact.ErrorAnswers) string {
	var status, parts []string
	for _, of := range a.Of {
		if _, err := strconv.Atoi(of); err == nil {
			status = append(status, of)
			continue
		}
		parts = append(parts, of)
	}
	if len(status) > 0 {
		parts = slices.Insert(parts, 0, "status "+strings.Join(status, ", "))
	}
	for _, c := range a.Checks {
		part := fmt.Sprintf("check %q failed", c.Name)
		if c.Status > 0 {
			part += fmt.Sprintf(", status %d", c.Status)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}
