package report

import (
	"regexp"
	"strings"
)

// coded are the numbers in a reason that are a name and no amount: codes of answers, before how
// many had them, and percentiles.
var coded = regexp.MustCompile(`(?:^|[^0-9,.])[1-5][0-9][0-9] \(|` +
	`\b(?:status|answered) [1-5][0-9][0-9]\b|\bp[0-9.]+`)

// ReasonKind is a reason with its amounts left out, so that those of one kind can be counted. Codes
// of answers and percentiles stay: 503 and 429 are not of one kind.
func ReasonKind(says string) string {
	var b strings.Builder
	from := 0
	for _, at := range coded.FindAllStringIndex(says, -1) {
		b.WriteString(withoutNumbers(says[from:at[0]]))
		b.WriteString(says[at[0]:at[1]])
		from = at[1]
	}
	b.WriteString(withoutNumbers(says[from:]))
	return b.String()
}

// withoutNumbers has N for each number, as 12, 1.5 and 1,234 are.
func withoutNumbers(says string) string { return number.ReplaceAllString(says, "N") }

var number = regexp.MustCompile(`[0-9](?:[0-9.]|,[0-9])*`)
