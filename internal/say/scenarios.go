package say

import (
	"fmt"
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
		can = append([]string{"write the option user"}, can...)
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
		return "data with such a column"
	}
	const most = 8
	text := "name a column so; the columns are " + strings.Join(a.Has[:min(len(a.Has), most)], ", ")
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
		return a.Name + " is the name of a function; choose another"
	case fact.OptionValue:
		return fmt.Sprintf("%.40q cannot be the option %s", a.Value, a.Name)
	case fact.RowsMixed:
		return fmt.Sprintf("%s is that of another row in each iteration, and the request of line %d "+
			"stays with one", hole, a.Line)
	case fact.ValueLater:
		return hole + " has no value here: it is captured further down"
	case fact.NameUnknown:
		return hole + " is unknown"
	case fact.NotBare:
		return fmt.Sprintf("%s stands for a value in JSON and is no number, boolean or null: write "+
			"\"%[1]s\" for a text", hole)
	case fact.FormatUnknown:
		return fmt.Sprintf("%.40q is no format of a stream: write # dyno: stream and one of %s", a.Value,
			strings.Join(a.Has, ", "))
	case fact.FormatsMixed:
		return fmt.Sprintf("streams of %s and of %s cannot be in one load", a.Other, a.Value)
	case fact.RedirectsMany:
		return fmt.Sprintf("there are more redirects than max-redirs, %d", a.Most)
	case fact.NoHost:
		return fmt.Sprintf("the URL begins with no host: write {{base}}, as in %s {{base}}/", a.Name)
	case fact.NoScheme:
		return fmt.Sprintf("%.60q is no URL with http:// or https://; write {{base}} before the path",
			a.Value)
	case fact.OtherServer:
		return fmt.Sprintf("%.80s is not the server that the command line names, %s: no file sends "+
			"load anywhere else; write {{base}}", a.Value, a.Other)
	case fact.ColumnFunction:
		return "column " + a.Name + " has the name of a function; rename it"
	case fact.ColumnTwice:
		return "the variable " + a.Name + " is a column of the data, too; choose another name"
	case fact.VariableFunction:
		return "the variable " + a.Name + " has the name of a function; choose another"
	case fact.QuoteOpen:
		return "the variable " + a.Name + ": the value begins with a quote and does not end with one"
	}
	return plainFaults[a.Of]
}

// plainFaults say what is wrong where nothing is named.
var plainFaults = map[fact.ScenarioFault]string{
	fact.NoLaterRequest: "later iterations would have no request: leave out once or every of one",
	fact.NothingFollows: "no request follows that could be answered so: write again on before the " +
		"request that gets the token",
	fact.HeaderForm: "write header: Name: value",
	fact.SignerNone: "the request is to be signed, and nothing says by whom",
	fact.SignerPartial: "the option user is not complete: write NAME:PASSWORD for digest, and " +
		"KEY:SECRET for aws-sigv4",
	fact.NoBodyToStream: "the answer to HEAD has no body, so it is no stream",
	fact.StreamCompressed: "the events of a compressed answer cannot be told apart as they come; " +
		"leave the option compressed out",
	fact.PathUnknown: "a value that only the run knows stands where the path begins; write / " +
		"before it",
	fact.Fragment:     "a URL that is sent has no fragment; leave # out, and what follows it",
	fact.ValueNoText:  "the value is no text: a list, an object or bytes cannot stand in a template",
	fact.ValueNotBare: "the value stands for a value in JSON and is no number, boolean or null",
}

// hurlParts are parts of a Hurl file, before their name if they have one.
var hurlParts = map[fact.HurlPart]string{
	fact.HurlQuery:     "the query ",
	fact.HurlOption:    "the option ",
	fact.EndlessOption: "the option ",
	fact.VariableName:  "the name of a variable",
	fact.HeaderName:    "the name of a header",
	fact.FileName:      "a file",
	fact.CaptureName:   "a capture whose name is a template",
	fact.TwoBodies:     "a request with two bodies",
}

// whyInNoLoad say of queries and options why no load has them.
var whyInNoLoad = map[fact.NotInLoad]string{
	{What: fact.HurlQuery, Name: "certificate"}: "dyno keeps no certificates",
	{What: fact.HurlQuery, Name: "ip"}:          "dyno chooses among all addresses of the server",
	{What: fact.HurlOption, Name: "location-trusted"}: "no load goes to another server; " +
		"write location",
	{What: fact.HurlOption, Name: "output"}: "a load writes no responses to files; leave it " +
		"out",
	{What: fact.HurlOption, Name: "aws-sigv4"}: "dyno signs for aws:amz alone; write " +
		"aws:amz:REGION:SERVICE",
}

// notInLoad says what no load has, and why.
func notInLoad(a fact.NotInLoad) string {
	what, why := hurlParts[a.What]+a.Name, whyInNoLoad[a]
	switch {
	case a.Late:
		what, why = what+" with a value that only the run knows", "it is the same in the whole run"
	case a.OfRun:
		why = "it is the same in the whole run"
	case a.What == fact.EndlessOption:
		what, why = what+" without an end", "write how often, as "+a.Name+": 10"
	case a.What == fact.CaptureName:
		why = "write the name"
	case a.What == fact.TwoBodies:
		why = "keep the form or the body"
	case why == "":
		why = "dyno has nothing like it"
	}
	return what + " is not supported: " + why
}
