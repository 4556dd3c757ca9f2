package fairness

import (
	"maps"
	"math"
	"net"
	"slices"
	"strings"

	"dyno/internal/fact"
	"dyno/internal/say"
)

// A Table is what was compared: a row for each aspect and each header, a cell
// for each variant. Its order is that of the answers and of their headers.
type Table struct {
	Reference string   `json:"reference"`
	Variants  []string `json:"variants"`
	Allowed   []string `json:"allowed,omitempty"` // as it was given
	Rows      []Row    `json:"rows"`
}

// A Row is one aspect of all variants.
type Row struct {
	Aspect string `json:"aspect"`           // its name, or a header's in lower case
	Header bool   `json:"header,omitempty"` // it is a header's value
	Why    string `json:"why"`              // a difference in it matters
	Cells  []Cell `json:"cells"`            // in the order of Table.Variants
}

// A Cell is one aspect of one variant.
type Cell struct {
	Value   string   `json:"value"` // in words
	State   State    `json:"state"`
	Percent *float64 `json:"percent,omitempty"` // more bytes than the reference, of its mean
}

// State is what a cell is, compared with the reference's.
type State string

// The states of a cell.
const (
	Equal     State = "equal"
	Allowed   State = "allowed" // different, and in the allow list
	Violating State = "violation"
	Unseen    State = "unknown" // on one side or both: there is nothing to compare
	Shown     State = "shown"   // for information: another value is no other answer
)

// Asked is a variant and its answer, which is nil if it gave none.
type Asked struct {
	Variant string
	Answer  *Answer
}

// A Violation is a cell that makes variants incomparable.
type Violation struct {
	Aspect    string `json:"aspect"`
	Variant   string `json:"variant"`
	Reference string `json:"reference"` // the reference's value
	Value     string `json:"value"`
	Why       string `json:"why"` // it matters
}

// A Difference is what a server did one way before a trial and another way after.
type Difference struct {
	Aspect string `json:"aspect"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Compare compares all answers with that of the variant called reference, or the
// first if none is called so. allow names aspects and headers that may differ,
// in any case and with - or _; what an allowed header, body or framing adds to
// an exchange's bytes is allowed with it.
func Compare(reference string, answers []Asked, allow []string) *Table {
	t := &Table{Allowed: slices.Clone(allow)}
	if len(answers) == 0 {
		return t
	}
	ref := max(0, slices.IndexFunc(answers, func(a Asked) bool { return a.Variant == reference }))
	t.Reference = answers[ref].Variant
	for _, a := range answers {
		t.Variants = append(t.Variants, a.Variant)
	}
	c := comparison{answers: answers, ref: answers[ref].Answer, allowed: newAllowed(allow)}
	if row, missing := c.presenceRow(); missing {
		t.Rows = append(t.Rows, row)
	}
	for i := range aspects {
		if !c.hasAspect(&aspects[i]) {
			continue
		}
		t.Rows = append(t.Rows, c.aspectRow(&aspects[i]))
		if aspects[i].name == "header_names" {
			t.Rows = append(t.Rows, c.headerRows()...)
		}
	}
	return t
}

// rowOf is the row of an aspect, without cells.
func rowOf(aspect string, header bool) Row {
	return Row{Aspect: aspect, Header: header,
		Why: say.Plain(fact.Matters{Aspect: aspect, Header: header})}
}

// AddInformation adds an aspect that is shown and not judged, such as what can be read of servers
// but not of their answers: values has that of each variant, in words; what is not there is
// unknown.
func (t *Table) AddInformation(name string, values map[string]string) {
	row := rowOf(name, false)
	for _, variant := range t.Variants {
		cell := Cell{Value: values[variant], State: Shown}
		if cell.Value == "" {
			cell.State = Unseen
		}
		row.Cells = append(row.Cells, cell)
	}
	t.Rows = append(t.Rows, row)
}

// Violations are the cells that are, by row and then by variant.
func (t *Table) Violations() []Violation {
	ref := slices.Index(t.Variants, t.Reference)
	var all []Violation
	for _, r := range t.Rows {
		for i, c := range r.Cells {
			if c.State == Violating {
				all = append(all, Violation{r.Aspect, t.Variants[i], r.Cells[ref].Value, c.Value, r.Why})
			}
		}
	}
	return all
}

// Fewest are the fewest aspects and headers which, allowed besides allow, make the answer of a
// variant comparable with the reference: some differences follow from others. ok is false if none
// suffice.
func Fewest(reference, variant string, answers []Asked, allow []string) (aspects []string,
	ok bool) {
	violates := func(more []string) (all []string) {
		for _, v := range Compare(reference, answers, slices.Concat(allow, more)).Violations() {
			if v.Variant == variant {
				all = append(all, v.Aspect)
			}
		}
		return all
	}
	aspects = violates(nil)
	for i := len(aspects) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(aspects), i, i+1); len(violates(fewer)) == 0 {
			aspects = fewer
		}
	}
	return aspects, len(violates(aspects)) == 0
}

// Differences compares what one server answered before a trial and after it, each nil
// if it did not answer. It returns what changed, nil if nothing did.
func Differences(before, after *Answer) []Difference {
	var all []Difference
	t := Compare("before", []Asked{{"before", before}, {"after", after}}, nil)
	for _, v := range t.Violations() {
		all = append(all, Difference{v.Aspect, v.Reference, v.Value})
	}
	return all
}

// A comparison is Compare under way.
type comparison struct {
	answers []Asked
	ref     *Answer
	allowed allowed
}

// hasAspect reports whether any answer has an aspect.
func (c *comparison) hasAspect(s *aspect) bool {
	return s.has == nil || slices.ContainsFunc(c.answers, func(a Asked) bool {
		return a.Answer != nil && s.has(a.Answer)
	})
}

// presenceRow is the row of who answered at all; it is missing as it should be when
// everyone did.
func (c *comparison) presenceRow() (Row, bool) {
	row := rowOf("answer", false)
	words := map[bool]string{true: "yes", false: "none"}
	missing := false
	for _, a := range c.answers {
		state := Equal
		if (a.Answer == nil) != (c.ref == nil) {
			state = c.allowed.differenceState("answer")
		}
		missing = missing || a.Answer == nil
		row.Cells = append(row.Cells, Cell{Value: words[a.Answer != nil], State: state})
	}
	return row, missing
}

func (c *comparison) aspectRow(s *aspect) Row {
	row := rowOf(s.name, false)
	for _, a := range c.answers {
		if a.Answer == nil {
			row.Cells = append(row.Cells, Cell{State: Unseen})
			continue
		}
		cell := Cell{Value: s.show(a.Answer), State: Unseen}
		if c.ref != nil {
			ok := c.allowedOf(a.Answer)
			if cell.State = s.compareAnswers(c.ref, a.Answer, ok); cell.State == Violating {
				cell.State = ok.differenceState(s.name)
			}
			if s.bytes != nil && cell.State != Unseen {
				cell.Percent = percentMore(s.bytes(c.ref).Mean, s.bytes(a.Answer).Mean)
			}
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// percentMore is how much more b is than a, to a hundredth.
func percentMore(a, b float64) *float64 {
	if a == 0 {
		return nil
	}
	p := math.Round((b/a-1)*1e4) / 100
	return &p
}

// headerRows are the rows of the headers' values: the reference's in their order,
// then those that others have besides. Date and
// Content-Encoding are aspects and have no row here.
func (c *comparison) headerRows() (rows []Row) {
	seen := map[string]bool{"date": true, "content-encoding": true}
	for _, a := range append([]Asked{{Answer: c.ref}}, c.answers...) {
		if a.Answer == nil {
			continue
		}
		for _, l := range a.Answer.Header {
			if name := canonicalName(l.Name); !seen[name] {
				seen[name] = true
				rows = append(rows, c.headerRow(strings.ToLower(l.Name)))
			}
		}
	}
	return rows
}

func (c *comparison) headerRow(name string) Row {
	row := rowOf(name, true)
	for _, a := range c.answers {
		cell := Cell{State: Unseen}
		if a.Answer != nil {
			cell.Value = showHeader(a.Answer, name)
		}
		if a.Answer != nil && c.ref != nil {
			cell.State = c.headerState(name, a.Answer)
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

func (c *comparison) headerState(name string, a *Answer) State {
	if isHop(name, c.ref, a) {
		return Unseen
	}
	one, has1 := valueOf(c.ref.Header, name)
	two, has2 := valueOf(a.Header, name)
	varies := "header " + name
	vary1, vary2 := slices.Contains(c.ref.Varies, varies), slices.Contains(a.Varies, varies)
	same := has1 == has2 && neutralValue(name, one, c.ref) == neutralValue(name, two, a)
	if vary1 == vary2 && (same || vary1) {
		return Equal
	}
	return c.allowedOf(a).differenceState(name)
}

// allowedOf is what may differ in an answer: its body, too, if its status may and does.
func (c *comparison) allowedOf(a *Answer) allowed {
	if !c.allowed.hasName("status") || judgeStatus(c.ref, a, c.allowed) == Equal {
		return c.allowed
	}
	set := newAllowed([]string{"body"})
	maps.Copy(set, c.allowed)
	return set
}

// neutralValue is a header's value without the server's own address. Alt-Svc has its port alone.
func neutralValue(name, value string, a *Answer) string {
	if _, port, err := net.SplitHostPort(a.Authority); err == nil && name == "alt-svc" {
		value = strings.ReplaceAll(value, `=":`+port+`"`, `=":PORT"`)
	}
	return neutralText(value, a.Authority)
}

// allowed is the allow list, by canonical names.
type allowed map[string]bool

// implied is what else may differ when a thing may.
var implied = map[string][]string{
	"status":     {"reason"},
	"body":       {"body-bytes", "content-length"},
	"body-bytes": {"content-length"},
	"framing":    {"content-length", "transfer-encoding"},
	"keep-alive": {"connection"},
}

func newAllowed(names []string) allowed {
	set := allowed{}
	for _, n := range names {
		n = canonicalName(n)
		set[n] = true
		for _, also := range implied[n] {
			set[also] = true
		}
	}
	return set
}

func (a allowed) hasName(name string) bool { return a[canonicalName(name)] }

// differenceState is that of a difference in what is called name.
func (a allowed) differenceState(name string) State {
	if a.hasName(name) {
		return Allowed
	}
	return Violating
}

func canonicalName(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
}

// headerNames are the lower-case names of a's header lines without those allowed to
// differ, sorted, and how many bytes those have.
func (a allowed) headerNames(in *Answer) (names []string, bytes int64) {
	for _, l := range in.Header {
		if a.hasName(l.Name) {
			bytes += int64(l.Bytes)
			continue
		}
		names = append(names, strings.ToLower(l.Name))
	}
	slices.Sort(names)
	return names, bytes
}

// varyingNames are the names in a.Varies without those allowed to differ.
func (a allowed) varyingNames(in *Answer) []string {
	set := map[string]bool{}
	for _, v := range in.Varies {
		if !a.hasName(strings.TrimPrefix(v, "header ")) {
			set[v] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}
