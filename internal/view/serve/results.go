package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/store"
	"dyno/internal/view/document"
	"dyno/internal/view/historytext"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
	"dyno/internal/view/page"
	"dyno/internal/view/payload"
	"dyno/internal/view/report"
)

// A stored is what the list has of a result.
type stored struct {
	ID        string    `json:"id"`
	Started   time.Time `json:"started,omitzero"`
	URL       string    `json:"url,omitempty"`
	Model     string    `json:"model,omitempty"`
	Completed float64   `json:"completed,omitempty"` // a second
	P99       float64   `json:"p99_us,omitempty"`
	P99Over   bool      `json:"p99_over,omitempty"` // it is only known to be higher
	Verdict   string    `json:"verdict,omitempty"`
	Note      string    `json:"note,omitempty"`
	Errors    float64   `json:"errors_percent,omitempty"` // of the requests, that failed
	Load      string    `json:"load,omitempty"`           // in words
	Partial   string    `json:"partial,omitempty"`        // why it covers less than planned

	Streams []store.Figure `json:"streams,omitempty"` // by column; nil: it has none

	// Results of one load on one machine have one series, numbered by its newest. The changes are
	// those from the one before that is complete; nil without one.
	Series     int     `json:"series"`
	RateChange *change `json:"completed_change,omitempty"`
	P99Change  *change `json:"p99_change,omitempty"`
	Since      string  `json:"since,omitempty"` // the ID of the one before
}

// A change is by how much a value differs from the one before.
type change struct {
	Text string `json:"text"` // "+12 %"
	Sign int    `json:"sign"` // 1: it is more, -1: less, 0: as before
}

// serveResults lists what is stored, newest first.
func (s *Server) serveResults(w http.ResponseWriter, r *http.Request) {
	list, err := s.listed.resultsIn(s.Home)
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	answerJSON(w, http.StatusOK, list)
}

// A listing is the list of results as it was made last. The index is opened again when the folder
// of results has changed, by whomever.
type listing struct {
	mu   sync.Mutex
	mark store.Mark
	made time.Time
	all  []stored
}

// recheckTime is for how long a list is used at most: a file that an editor wrote in its place,
// as no dyno does, changes no folder.
const recheckTime = time.Minute

func (l *listing) resultsIn(home string) ([]stored, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mark := store.MarkOf(home) // before the index is read: what comes later is then seen
	if mark.Equal(l.mark) && time.Since(l.made) < recheckTime {
		return l.all, nil
	}
	index, err := store.Open(home)
	if err != nil {
		return nil, err
	}
	all, err := index.Entries()
	if err = errors.Join(err, index.Close()); err != nil {
		return nil, err
	}
	list := make([]stored, len(all))
	for i, one := range all {
		list[i] = stored{ID: one.ID, Started: one.Started, URL: one.URL, Model: one.Model,
			Completed: one.Values["throughput"], P99: one.Values["p99"], Verdict: one.Verdict,
			P99Over: slices.Contains(one.Over, "p99"),
			Note:    one.Note, Errors: one.Values[store.Errors], Partial: one.Partial,
			Load: historytext.SeriesLoad(store.Series{Newest: one})}
		if all := one.StreamFigures(); slices.ContainsFunc(all, isKnown) {
			list[i].Streams = all
		}
	}
	setSeries(list, all)
	l.mark, l.made, l.all = mark, time.Now(), list
	return list, nil
}

func isKnown(f store.Figure) bool { return f.Value > 0 }

// setSeries sets the series of a list, newest first, and each result's changes from the one before.
func setSeries(list []stored, entries []store.Entry) {
	type load struct{ plan, machine string }
	known := map[load]int{}
	later := map[int][]int{} // of a series, those for which no complete one before was seen yet
	for i, e := range entries {
		of := load{e.Plan, e.Machine}
		n, has := known[of]
		if !has {
			n = len(known)
			known[of] = n
		}
		list[i].Series = n
		if e.Partial == "" {
			for _, k := range later[n] {
				list[k].Since = e.ID
				list[k].RateChange = changeOf(list[k].Completed, list[i].Completed, "")
				list[k].P99Change = changeOf(list[k].P99, list[i].P99,
					lab.BoundOf(list[k].P99Over, list[i].P99Over))
			}
			later[n] = nil
		}
		later[n] = append(later[n], i)
	}
}

// changeOf is by how much a value differs from the one before; nil if one of them is missing, or
// nothing is known of it.
func changeOf(now, before float64, known lab.Bound) *change {
	if now <= 0 || before <= 0 || known == lab.NoBound {
		return nil
	}
	ratio := now / before
	percent := math.RoundToEven(100 * (ratio - 1)) // as it is written
	return &change{Text: known.ChangeAlone(ratio), Sign: cmp.Compare(percent, 0)}
}

// saveNote stores the note on a result.
func (s *Server) saveNote(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if id == lastID {
		answerError(w, http.StatusNotFound, "a note is on a result that is stored, by its ID")
		return
	}
	if s.findResult(w, id) == nil {
		return
	}
	var said struct{ Text string }
	if err := json.NewDecoder(r.Body).Decode(&said); answeredTooLarge(w, err) {
		return
	} else if err != nil {
		answerError(w, http.StatusUnprocessableEntity, fmt.Sprintf("reading the note: %v", err))
		return
	}
	index, err := store.Open(s.Home)
	if err == nil {
		err = errors.Join(index.Note(id, said.Text), index.Close())
	}
	if err != nil {
		answerError(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	answerJSON(w, http.StatusOK, struct{}{})
}

// findResult reads a result by its ID, which is never taken for a path; lastID is that of the
// load that was shown last. What it cannot do it answers itself.
func (s *Server) findResult(w http.ResponseWriter, id string) *result.Result {
	if id == lastID {
		s.loads.mu.Lock()
		r := s.loads.last
		s.loads.mu.Unlock()
		if r == nil {
			answerError(w, http.StatusNotFound, "no load has ended since the dashboard began")
		}
		return r
	}
	r, err := dynohome.OpenID(s.Home, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		answerError(w, http.StatusNotFound, fmt.Sprintf("no result %q is stored", id))
		return nil
	case err != nil:
		answerError(w, http.StatusInternalServerError, err.Error())
		return nil
	}
	return r
}

// serveResult answers with a result as it is stored.
func (s *Server) serveResult(w http.ResponseWriter, r *http.Request) {
	if found := s.findResult(w, r.PathValue("id")); found != nil {
		w.Header().Set("Content-Type", "application/json")
		report.JSON(w, found) // a browser that has left needs no answer
	}
}

// serveResultReport answers with the report of a result, as dyno report writes it into a file.
func (s *Server) serveResultReport(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	found := s.findResult(w, id)
	if found == nil {
		return
	}
	of := func(write func(io.Writer, *result.Result) error) func(io.Writer) error {
		return func(to io.Writer) error { return write(to, found) }
	}
	shown := func(to io.Writer) error {
		p := payload.OfRun(found)
		p.Answer = s.answeredRun(found, id).Answer
		return page.WriteRun(to, p)
	}
	s.answerReport(w, r, id, shown,
		filesOf(of(page.Run), of(report.Markdown), of(report.JSON), of(report.CSV)))
}

// leastMargin is the least difference that matters, unless a request has another, as of dyno
// compare.
const leastMargin = 0.02

// serveComparison compares two results, or more: all with the first. Results of the same URL and
// the same load are repeated runs of one thing, if there are others to compare them with.
func (s *Server) serveComparison(w http.ResponseWriter, r *http.Request) {
	var rs []*result.Result
	for i, id := range r.URL.Query()["id"] {
		if slices.Contains(r.URL.Query()["id"][:i], id) {
			continue // one run is not two
		}
		found := s.findResult(w, id)
		if found == nil {
			return
		}
		rs = append(rs, found)
	}
	if len(rs) < 2 {
		answerError(w, http.StatusUnprocessableEntity, "comparing needs two results: ?id=ID&id=ID")
		return
	}
	groups := pooled(rs)
	u, err := judge.CompareGroups(groups, nil, leastMargin)
	if err != nil {
		answerError(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	if r.URL.Query().Has("verdicts") { // as dyno compare --json has them
		answerJSON(w, http.StatusOK, u)
		return
	}
	var markdown bytes.Buffer
	parts, err := labreport.UnpairedParts(u)
	a, err2 := labreport.UnpairedAnswer(u)
	err3 := labreport.UnpairedMarkdown(&markdown, u)
	if err = errors.Join(err, err2, err3); err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	command := "dyno compare"
	for _, g := range groups {
		command += " " + g.Name
	}
	c := compared{withSummary(a, command), command, parts, markdown.String(), repeatPath(u)}
	if a.Next.InTurns {
		c.Answer.Next.Form, c.Repeat = c.Repeat, ""
	}
	answerJSON(w, http.StatusOK, c)
}

// pooled are results in groups, each of one URL and load on one machine, in the order in which they
// come first. If all are of one, each is a group: then what changed between them is the question.
func pooled(rs []*result.Result) (groups []judge.Group) {
	type load struct{ plan, machine string }
	var order []load
	of, alone := map[load][]*result.Result{}, map[load][]string{}
	for _, r := range rs {
		at := load{store.PlanOf(r.Plan), store.GeneratorsOf(r)}
		if of[at] == nil {
			order = append(order, at)
		}
		of[at], alone[at] = append(of[at], r), append(alone[at], r.ID)
	}
	if len(order) > 1 {
		for _, at := range order {
			groups = append(groups, judge.GroupResults(strings.Join(alone[at], ","), of[at]))
		}
		return groups
	}
	for _, r := range rs {
		groups = append(groups, judge.GroupResults(r.ID, []*result.Result{r}))
	}
	return groups
}

// repeatPath is the page that has the form of an experiment filled in, which repeats two servers in
// turns; "" if the form does not have what their load takes.
func repeatPath(u *judge.Unpaired) string {
	urls, load, ok := labanswer.InTurns(u)
	if !ok || len(urls) != 2 {
		return ""
	}
	form := url.Values{"url": urls}
	for _, given := range load {
		if !slices.Contains([]string{"connections", "rate", "threads"}, given.Name) {
			return ""
		}
		form.Set(given.Name, given.Argument)
	}
	return "/lab?" + form.Encode()
}

// A compared is a comparison as a browser shows it.
type compared struct {
	Answer   answered        `json:"answer"`
	Command  string          `json:"command"` // that compares them too
	Parts    []document.Part `json:"parts"`
	Markdown string          `json:"markdown"`         // all of it, as a file
	Repeat   string          `json:"repeat,omitempty"` // the page that repeats them in turns
}
