package format

import (
	"strconv"
	"strings"

	"dyno/internal/lazyregexp"
)

// coded are the numbers in a reason that are a name and no amount: codes of answers, before how
// many had them or one after the other, and percentiles.
var coded = lazyregexp.New(`(?:^|[^0-9,.])[1-5][0-9][0-9] \(|` +
	`\b(?:status|answered) [1-5][0-9][0-9]\b|` +
	`\bwas [1-5][0-9][0-9] and is [1-5][0-9][0-9]\b|\bp[0-9.]+`)

// ReasonKind is a reason with its amounts left out, so that those of one kind can be counted. Codes
// of answers and percentiles stay: 503 and 429 are not of one kind.
func ReasonKind(says string) string {
	words, _ := splitAmounts(says)
	return strings.Join(words, "N")
}

// MergeReasons is one text for reasons of one kind. An amount in which they differ is a range:
// "took 5.7 to 15.9 % of its time". Of amounts that are a least the text names two: "used at least
// 25 % of the CPUs, in the worst trial 62 %".
func MergeReasons(all []string) string {
	words, low := splitAmounts(all[0])
	_, high := splitAmounts(all[0])
	for _, says := range all[1:] {
		_, amounts := splitAmounts(says)
		for i, s := range amounts {
			if amountOf(s) < amountOf(low[i]) {
				low[i] = s
			}
			if amountOf(s) > amountOf(high[i]) {
				high[i] = s
			}
		}
	}
	var b strings.Builder
	worst := ""
	for i, s := range low {
		b.WriteString(words[i] + s)
		switch {
		case high[i] == s:
		case strings.HasSuffix(words[i], atLeast):
			worst = ", in the worst trial " + high[i]
			if strings.HasPrefix(words[i+1], " %") {
				worst += " %"
			}
		default:
			b.WriteString(" to " + high[i])
		}
	}
	return b.String() + words[len(low)] + worst
}

// atLeast is what precedes an amount that is a least.
const atLeast = "at least "

// splitAmounts divides a reason into its amounts, as 12, 1.5 and 1,234 are, and the words before,
// between and behind them.
func splitAmounts(says string) (words, amounts []string) {
	codes := coded().FindAllStringIndex(says, -1)
	from := 0
	for _, at := range number().FindAllStringIndex(says, -1) {
		for len(codes) > 0 && codes[0][1] <= at[0] {
			codes = codes[1:]
		}
		if len(codes) > 0 && codes[0][0] < at[1] {
			continue
		}
		words, amounts = append(words, says[from:at[0]]), append(amounts, says[at[0]:at[1]])
		from = at[1]
	}
	return append(words, says[from:]), amounts
}

// amountOf is the value of an amount in a text; 0 if it is none, as an address is.
func amountOf(s string) float64 {
	f, _ := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	return f
}

var number = lazyregexp.New(`[0-9](?:[0-9.]|,[0-9])*`)
