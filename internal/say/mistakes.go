package say

import (
	"fmt"
	"strings"

	"dyno/internal/fact"
)

// A Mistake is an error whose text is the sentence of a fact.
type Mistake struct{ Of fact.Fact }

// Wrong is the error that has arguments, and remedies.
func Wrong(args fact.Args, mend ...fact.Remedy) error {
	return Mistake{fact.Fact{Severity: fact.Error, Args: args, Remedies: mend}}
}

// Error is the sentence.
func (m Mistake) Error() string { return Sentence(m.Of) }

// Remedies are those of the fact.
func (m Mistake) Remedies() []fact.Remedy { return m.Of.Remedies }

// mistakeSentence is Sentence for mistakes in what somebody wrote; "" of another kind.
func mistakeSentence(args fact.Args) string {
	switch a := args.(type) {
	case fact.Wanted:
		return wanted(a)
	case fact.NotMeasured:
		return notMeasured(a)
	case fact.InScenario:
		return inScenario(a)
	case fact.NotInLoad:
		return notInLoad(a)
	}
	return ""
}

// wants say what is wanted.
var wants = map[fact.Want]string{
	fact.AnObjective:  "write an objective, such as p99<20ms, errors<0.1% or rps>=10000",
	fact.ADuration:    "write a duration with its unit, such as 20ms",
	fact.ANumber:      "write a number, such as 10000",
	fact.APercentage:  "write a percentage, such as 0.1%",
	fact.EitherNumber: "write a number or a percentage, such as 0 or 0.1%",
}

func wanted(a fact.Wanted) string {
	switch {
	case a.Got == "":
		return wants[a.What]
	case a.More:
		return a.Got + " is more than 100 %; " + wants[a.What]
	}
	return fmt.Sprintf("%s, not %q", wants[a.What], a.Got)
}

func notMeasured(a fact.NotMeasured) string {
	switch a.Lacks {
	case fact.NoChecks:
		return "the run has no checks; to make one, expect a body or header, write an assert in the " +
			"Hurl file, or call dyno.check in a script"
	case fact.NoCheck:
		return fmt.Sprintf("the run has no check %q; %s", a.Name, meant(a))
	case fact.NoMetrics:
		return "the run has no metrics; a script makes some with dyno.counter and dyno.histogram"
	case fact.NoMetric:
		return fmt.Sprintf("the script has no counter or histogram %q; %s", a.Name, meant(a))
	case fact.NoStatistic:
		return fmt.Sprintf("%q is no value of a histogram; write count, min, mean, stdev, max or a "+
			"percentile, such as metric.%s.p99", a.Statistic, a.Name)
	}
	return fmt.Sprintf("%q is a histogram; write which of its values, such as "+
		"metric.%[1]s.p99", a.Name)
}

// meant says which name somebody had in mind, or which there are.
func meant(a fact.NotMeasured) string {
	if a.Meant != "" {
		return fmt.Sprintf("did you mean %q?", a.Meant)
	}
	const most = 5
	var list []string
	for _, one := range a.Has[:min(len(a.Has), most)] {
		list = append(list, fmt.Sprintf("%q", one))
	}
	others := ""
	if len(a.Has) > most {
		others = " and others"
	}
	return "it has " + strings.Join(list, ", ") + others
}
