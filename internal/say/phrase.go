package say

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// A phrase is a sentence whose amounts are apart, so that facts which differ in these alone can be
// said in one: "took 5.7 to 15.9 % of its time". Whatever else differs, as a status, is words.
type phrase struct {
	words   []string // one more than amounts
	amounts []amount
}

// An amount is a number in a sentence.
type amount struct {
	value   float64
	text    string // the number as it is written
	unit    string // behind it, with its space
	counted bool   // the unit is that of a count: its plural is no other unit
	least   bool   // it is known to be so much at least
}

func (a amount) String() string { return a.text + a.unit }

// to is the range from a to a higher amount.
func (a amount) to(high amount) string {
	switch {
	case a.String() == high.String():
		return a.String()
	case a.unit == high.unit || a.counted:
		return a.text + " to " + high.String()
	}
	return a.String() + " to " + high.String()
}

// phrased is a phrase: each %v of the words is one of the parts, of which amounts and phrases keep
// their amounts.
func phrased(words string, parts ...any) (p phrase) {
	for i, s := range strings.Split(words, "%v") {
		p.add(s)
		if i >= len(parts) {
			continue
		}
		switch part := parts[i].(type) {
		case amount:
			p.amounts, p.words = append(p.amounts, part), append(p.words, "")
		case phrase:
			p.add(part.words[0])
			p.amounts = append(p.amounts, part.amounts...)
			p.words = append(p.words, part.words[1:]...)
		default:
			p.add(fmt.Sprint(part))
		}
	}
	return p
}

// add adds words to the end.
func (p *phrase) add(s string) {
	if len(p.words) == 0 {
		p.words = []string{""}
	}
	p.words[len(p.words)-1] += s
}

// isEmpty reports whether p says nothing: it is the zero value.
func (p phrase) isEmpty() bool { return len(p.words) == 0 }

func (p phrase) String() string { return p.upTo(p) }

// upTo is p with its amounts as ranges up to those of a phrase of the same words. Of an amount that
// is a least it names two: "used at least 25 % of the CPUs, in the worst trial 62 %".
func (p phrase) upTo(high phrase) string {
	var b strings.Builder
	worst := ""
	for i, words := range p.words {
		b.WriteString(words)
		switch {
		case i == len(p.amounts):
		case !p.amounts[i].least:
			b.WriteString(p.amounts[i].to(high.amounts[i]))
		default:
			b.WriteString(p.amounts[i].String())
			if most := high.amounts[i].String(); most != p.amounts[i].String() {
				worst += ", in the worst trial " + most
			}
		}
	}
	return b.String() + worst
}

// spread widens low and high, of the same words, by another phrase of these.
func spread(low, high, by phrase) (phrase, phrase) {
	low.amounts, high.amounts = slices.Clone(low.amounts), slices.Clone(high.amounts)
	for i, a := range by.amounts {
		if a.value < low.amounts[i].value {
			low.amounts[i] = a
		}
		if a.value > high.amounts[i].value {
			high.amounts[i] = a
		}
	}
	return low, high
}

// A Said is what some of several facts say in one sentence.
type Said struct {
	Text string
	Of   []int // the facts' places
}

// Merge says facts, with what can be done in a voice, or without if it is nil. Those of a kind that
// differ in amounts alone are one sentence, with the range of each amount, and with the parts of
// loads that have any of them.
func Merge(all []fact.Fact, v Voice) (said []Said) {
	type lines struct {
		kind      fact.Kind
		advice    string
		low, high phrase
		parts     fact.Scope
	}
	var merged []lines
	for i, f := range all {
		p, advice := phraseOf(f), ""
		if v != nil {
			advice = Advice(f, v)
		}
		if p.isEmpty() {
			p = phrased("%v", sentence(f))
		}
		at := slices.IndexFunc(merged, func(m lines) bool {
			return m.kind == f.Kind() && m.advice == advice && slices.Equal(m.low.words, p.words)
		})
		if at < 0 {
			at, said = len(said), append(said, Said{})
			merged = append(merged, lines{f.Kind(), advice, p, p, f.Scope})
		}
		m := &merged[at]
		m.low, m.high = spread(m.low, m.high, p)
		m.parts = eitherParts(m.parts, f.Scope)
		said[at].Of = append(said[at].Of, i)
	}
	for i, m := range merged {
		if said[i].Text = ofParts(m.parts, m.low.upTo(m.high)); m.advice != "" {
			said[i].Text += "; " + m.advice
		}
	}
	return said
}

// eitherParts are the parts that one of two scopes has, of loads of as many; none if that is all.
func eitherParts(a, b fact.Scope) fact.Scope {
	if a.OfParts != b.OfParts {
		return fact.Scope{}
	}
	all := slices.Concat(a.Parts, b.Parts)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == a.OfParts {
		return fact.Scope{}
	}
	return fact.Scope{Parts: all, OfParts: a.OfParts}
}

// percent is a share in percent, with so many decimals.
func percent(v float64, decimals int) amount {
	return amount{value: v, text: fmt.Sprintf("%.*f", decimals, v), unit: " %"}
}

// significant is a share in percent of so many significant digits.
func significant(v float64, n int) amount {
	return amount{value: v, text: digits.Significant(v, n), unit: " %"}
}

// number is a number without a unit.
func number(v float64, text string) amount { return amount{value: v, text: text} }

// counts is a count: 1,234,567.
func counts(n int64) amount { return amount{value: float64(n), text: count(n)} }

// plural is a count of things: "1 request".
func plural(n int64, thing string) amount {
	if n != 1 {
		thing += "s"
	}
	return amount{value: float64(n), text: count(n), unit: " " + thing, counted: true}
}

// micros is a time in µs.
func micros(us float64) amount {
	text, unit, _ := strings.Cut(digits.Micros(us), " ")
	if unit != "" {
		unit = " " + unit
	}
	return amount{value: us, text: text, unit: unit}
}

// seconds is a time in s, with so many decimals.
func seconds(s float64, decimals int) amount {
	return amount{value: s, text: fmt.Sprintf("%.*f", decimals, s), unit: " s"}
}
