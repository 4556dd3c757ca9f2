package say

import (
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/fact"
)

// scenarioText is Text for a mistake in a scenario whose advice is no end of the sentence; "" of
// another.
func scenarioText(f fact.Fact, v Voice) string {
	a, is := f.Args.(fact.InScenario)
	if !is || a.Of != fact.RowsMixed && a.Of != fact.NameUnknown &&
		a.Of != fact.SignerNone {
		return ""
	}
	can := remedies(f.Remedies, v)
	if a.Of == fact.SignerNone {
		can = append([]string{`write the option "user"`}, can...)
	}
	if a.Of == fact.NameUnknown {
		can = append(can, columnsHint(a)+functionHints[a.Name])
	}
	if len(can) == 0 {
		return Sentence(f)
	}
	return Sentence(f) + ": " + strings.Join(can, ", or ")
}

// functionHints are for names that are functions elsewhere in dyno.
var functionHints = map[string]string{
	"uuid": "; {{newUuid}} is a random UUID",
	"now":  "; {{newDate}} is when the iteration was due",
}

// columnsHint says which names the data has, or how to have some.
func columnsHint(a fact.InScenario) string {
	if len(a.Has) == 0 {
		return fmt.Sprintf("give data with a column %q", a.Name)
	}
	const most = 8
	text := fmt.Sprintf("name a column %q; the columns are ",
		a.Name) + strings.Join(a.Has[:min(len(a.Has), most)], ", ")
	if len(a.Has) > most {
		text += ", …"
	}
	if a.Hint != "" {
		text += " (" + a.Hint + ")"
	}
	return text
}

// inScenario says what is wrong with a Hurl file.
func inScenario(a fact.InScenario) string {
	hole := "{{" + a.Name + "}}"
	switch a.Of {
	case fact.NameOfFunction:
		return fmt.Sprintf("%q is the name of a function; choose another name", a.Name)
	case fact.OptionValue:
		return fmt.Sprintf("the option %q cannot be %.40q", a.Name, a.Value)
	case fact.RowsMixed:
		return fmt.Sprintf("the request of line %d is not sent in every iteration, so that its %s may "+
			"be an older one than that of the other requests", a.Line, hole)
	case fact.ValueLater:
		return hole + " has no value here: a request further down captures it"
	case fact.NameUnknown:
		return hole + " is unknown"
	case fact.NotBare:
		return fmt.Sprintf("%s stands in JSON without quotes, but its value is no number, boolean or "+
			"null: write \"%[1]s\"", hole)
	case fact.FormatUnknown:
		return fmt.Sprintf("%.40q is no format of a stream: write \"# dyno: stream FORMAT\", where "+
			"FORMAT is one of %s", a.Value, strings.Join(a.Has, ", "))
	case fact.FormatsMixed:
		return fmt.Sprintf("one load cannot have streams of both %s and %s", a.Other, a.Value)
	case fact.RedirectsMany:
		return fmt.Sprintf("the request was redirected more than %d times, which is the most that "+
			`the option "max-redirs" allows`, a.Most)
	case fact.NoHost:
		return fmt.Sprintf("the URL has no host: begin it with {{base}}, as in %s {{base}}/", a.Name)
	case fact.NoScheme:
		return fmt.Sprintf("%.60q does not begin with http:// or https://; write {{base}} before the "+
			"path",
			a.Value)
	case fact.OtherServer:
		return fmt.Sprintf("the URL names the server %.80s, but the command line names %s: a file sends "+
			"load to no other server; write {{base}}", a.Value, a.Other)
	case fact.ColumnFunction:
		return fmt.Sprintf("the column %q has the name of a function; rename it", a.Name)
	case fact.ColumnTwice:
		return fmt.Sprintf("the data has a column %q, too; choose another name for the variable", a.Name)
	case fact.VariableFunction:
		return fmt.Sprintf("the variable %q has the name of a function; choose another name", a.Name)
	case fact.QuoteOpen:
		return fmt.Sprintf("the value of the variable %q begins with a quote and does not end with one",
			a.Name)
	}
	return plainFaults[a.Of]
}

// plainFaults say what is wrong where nothing is named.
var plainFaults = map[fact.ScenarioFault]string{
	fact.NoLaterRequest: `each request has the comment "# dyno: once" or "# dyno: every ..."` +
		", so that later iterations would have no request: remove it from at least one",
	fact.NothingFollows: `"# dyno: again on" has no effect at the last request, because only a ` +
		"later answer can make dyno repeat a request: write it before the request that gets the token",
	fact.HeaderForm: `write the option "header" as header: Name: value`,
	fact.SignerNone: "the request must be signed, but no user is given",
	fact.SignerPartial: `the option "user" is not complete: write NAME:PASSWORD for digest, and ` +
		"KEY:SECRET for aws-sigv4",
	fact.NoBodyToStream: "the answer to HEAD has no body, so it is no stream",
	fact.StreamCompressed: "dyno cannot tell the events of a compressed answer apart while they " +
		`arrive; leave out the option "compressed"`,
	fact.PathUnknown: `the path begins with a value that is known only during the load; write "/" ` +
		"before it",
	fact.Fragment:     `a URL with a fragment cannot be requested: leave out "#" and what follows it`,
	fact.ValueNoText:  "the value is no text: a list, an object or bytes cannot stand in a template",
	fact.ValueNotBare: "the value stands in JSON without quotes, but is no number, boolean or null",
}

// hurlParts are parts of a Hurl file, before their name if they have one.
var hurlParts = map[fact.HurlPart]string{
	fact.HurlQuery:     "the query ",
	fact.HurlOption:    "the option ",
	fact.EndlessOption: "the option ",
	fact.VariableName:  "the name of a variable",
	fact.HeaderName:    "the name of a header",
	fact.FileName:      "the name of a file",
	fact.CaptureName:   "a capture whose name is a template",
	fact.TwoBodies:     "a request with two bodies",
}

// whyInNoLoad say of queries and options why no load has them.
var whyInNoLoad = map[fact.NotInLoad]string{
	{What: fact.HurlQuery, Name: "certificate"}: "dyno keeps no certificates",
	{What: fact.HurlQuery, Name: "ip"}:          "dyno chooses among all addresses of the server",
	{What: fact.HurlOption, Name: "location-trusted"}: "no load goes to another server; " +
		`write "location"`,
	{What: fact.HurlOption, Name: "output"}: "a load writes no responses to files; leave it " +
		"out",
	{What: fact.HurlOption, Name: "aws-sigv4"}: "dyno signs for aws:amz alone; write " +
		"aws:amz:REGION:SERVICE",
}

// notInLoad says what no load has, and why.
func notInLoad(a fact.NotInLoad) string {
	what, why := hurlParts[a.What], whyInNoLoad[a]
	if a.Name != "" {
		what += strconv.Quote(a.Name)
	}
	switch {
	case a.Late:
		return what + " cannot contain a value that is known only during the load: it must be the same " +
			"for all requests"
	case a.OfRun:
		why = "a load has one value for all requests"
	case a.What == fact.EndlessOption:
		what, why = what+" without an end", "write how often, such as "+a.Name+": 10"
	case a.What == fact.CaptureName:
		why = "write the name"
	case a.What == fact.TwoBodies:
		why = "keep the form or the body"
	case why == "":
		why = "dyno has nothing like it"
	}
	return what + " is not supported: " + why
}
