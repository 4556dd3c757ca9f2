package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/result/plansecrets"
	"dyno/internal/setting"
	"dyno/internal/view/live"
	"dyno/internal/view/payload"
	"dyno/internal/view/report"
)

// A Form is the settings of a load: the flags of dyno run by their long names, and
// "url". A flag that may be repeated has several values.
type Form map[string][]string

// A Group is fields of the form that are shown together.
type Group struct {
	Title  string  `json:"title"`
	Fields []Field `json:"fields"`
}

// A Field is one flag as the form has it.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"` // what it takes, in a word; "": it is a switch
	Does  string `json:"does"`
	Many  bool   `json:"many,omitempty"` // it may be given more than once
	Short string `json:"short,omitempty"`
	Hint
}

// A Hint helps to fill in a field.
type Hint = setting.Hint

// A Job is a load that a form asks for: a plan without flaws, and what carries it out in
// another process, stores what it measured, and returns that.
type Job struct {
	Plan loadplan.Plan
	Run  result.Runner
}

// A Fault is what is wrong with a form, at one of its fields; "" if at none alone.
type Fault struct {
	Field   string `json:"field"`
	Problem string `json:"problem"`
}

// pointsKept is how many seconds of a load a browser can still see that comes late.
const pointsKept = 3600

// loads is the load that the dashboard shows. There is one at a time, and none beside an
// experiment that a browser began: two would disturb each other's numbers.
type loads struct {
	journal *journal

	mu      sync.Mutex
	stop    func() // stops the load or the experiment that runs; nil: there is none
	what    string // it is, in words
	lab     string // the experiment's folder; "": it is a load
	running sync.WaitGroup
	closed  bool
	last    *result.Result
}

// A Show is a running load that the dashboard shows.
type Show struct {
	of    *Server
	plan  loadplan.Plan
	known *redact.Known       // the secrets of the plan
	sum   loadresult.Interval // counts so far
}

// errBusy is why nothing was begun.
var errBusy = errors.New("something is running already, and two would spoil each other's " +
	"numbers; stop it, or wait for its end")

// claim makes what is about to run the only thing that runs, until release. l.mu is held.
func (l *loads) claim(what, lab string, stop func()) error {
	switch {
	case l.closed:
		return errors.New("the dashboard is about to end")
	case l.stop != nil:
		return fmt.Errorf("%w: %s", errBusy, l.what)
	}
	l.stop, l.what, l.lab = sync.OnceFunc(stop), what, lab
	l.running.Add(1)
	return nil
}

// release lets the next begin. l.mu is held.
func (l *loads) release() {
	l.stop = nil
	l.running.Done()
}

// Show shows a load that the caller begins now; stop, called at most once and from any
// goroutine, is what the stop button does. The caller must call End. While one load is
// shown, another is an error.
func (s *Server) Show(p loadplan.Plan, stop func()) (*Show, error) {
	p.Target.URL = redact.Replacer(redact.PlainMark).URL(p.Target.URL)
	known := plansecrets.Known(p, redact.PlainMark) // now, for the load is to have the CPU
	l := &s.loads
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.claim(report.PlanText(p), "", stop); err != nil {
		return nil, err
	}
	l.last = nil
	l.journal.restart("run", beginning{Started: time.Now().UTC(), URL: p.Target.URL,
		Words: report.PlanText(p), Open: p.Open(), Connections: p.Connections,
		DurationS: time.Duration(p.Duration).Seconds(), WarmupS: time.Duration(p.Warmup).Seconds(),
		Requested: p.Requested, Iterations: p.CountsIterations()})
	return &Show{of: s, plan: p, known: known}, nil
}

// A beginning is the head of a load's journal. There is nothing in it that may be secret:
// of the plan's headers and bodies it has none, and of its URL no secret.
type beginning struct {
	Started     time.Time `json:"started"`
	URL         string    `json:"url"`
	Words       string    `json:"words"` // the load
	Open        bool      `json:"open"`
	Connections int       `json:"connections"`
	DurationS   float64   `json:"duration_s,omitempty"` // 0: until Requested are sent
	WarmupS     float64   `json:"warmup_s"`
	Requested   int64     `json:"requested,omitempty"`
	Iterations  bool      `json:"iterations,omitempty"` // Requested is of iterations, not of requests
}

// A second is an interval as browsers get it: a line of a stream, and what there was since the load
// began, because a browser that comes late does not get every second.
type second struct {
	live.Interval
	CompletedSoFar int64 `json:"completed_so_far"`
	ErrorsSoFar    int64 `json:"errors_so_far"`

	// Of a scenario.
	IterationsSoFar  int64               `json:"iterations_so_far,omitempty"`
	IterationsFailed int64               `json:"iterations_failed_so_far,omitempty"`
	ChecksSoFar      []result.CheckCount `json:"checks_so_far,omitempty"` // that failed, most first
}

// mostFailures is how many ways to fail a second has, at most, to keep it short.
const mostFailures = 10

// Interval shows a second of the load. It is called by one goroutine at a time.
func (v *Show) Interval(iv loadresult.Interval) {
	v.sum.Add(loadresult.Interval{Completed: iv.Completed, Failed: iv.Failed, Checks: iv.Checks,
		Iterations: iv.Iterations, IterationsFailed: iv.IterationsFailed})
	iv.Failures, iv.Checks = slices.Clone(iv.Failures[:min(len(iv.Failures), mostFailures)]), nil
	for i := range iv.Failures {
		f := &iv.Failures[i]
		if f.Detail = v.known.Cut(f.Detail); f.Phase == loadresult.Check { // the name of the check
			f.Kind = v.known.Cut(f.Kind)
		}
	}
	s := second{Interval: live.NewInterval(&v.plan, iv), CompletedSoFar: v.sum.Completed,
		ErrorsSoFar: v.sum.Failed, IterationsSoFar: v.sum.Iterations,
		IterationsFailed: v.sum.IterationsFailed, ChecksSoFar: v.failedChecks()}
	if v.plan.CountsIterations() { // what is offered in these cannot be held against requests
		s.Offered = nil
	}
	v.of.loads.journal.appendEvent("second", s)
}

// failedChecks are the checks that failed so far, those that failed most often first.
func (v *Show) failedChecks() (all []result.CheckCount) {
	for i, n := range v.sum.Checks {
		if n.Failed > 0 && i < len(v.plan.Checks) {
			all = append(all, result.CheckCount{Name: v.known.Cut(v.plan.Checks[i]), Passed: n.Passed,
				Failed: n.Failed})
		}
	}
	slices.SortStableFunc(all, func(a, b result.CheckCount) int {
		return cmp.Compare(b.Failed, a.Failed)
	})
	return all[:min(len(all), mostFailures)]
}

// An ending is the last event of a load's journal.
type ending struct {
	ID      string    `json:"id"` // of its result, for its report; "last" if it is not stored
	Summary string    `json:"summary,omitempty"`
	Verdict string    `json:"verdict,omitempty"`
	Answer  *answered `json:"answer,omitempty"` // what its report says first
	Ended   string    `json:"ended,omitempty"`  // why, as a result says it
	Whole   *whole    `json:"whole,omitempty"`  // the numbers of its report
	Error   string    `json:"error,omitempty"`  // why there is no result
}

// End shows what came of the load: a result, which its browser can look at even if it is
// not stored, or why there is none.
func (v *Show) End(r *result.Result, err error) {
	var e ending
	if err != nil {
		e.Error = v.known.Cut(err.Error())
	} else {
		e = ending{ID: cmp.Or(r.ID, lastID), Ended: r.Ended, Verdict: r.RunVerdict(),
			Whole: wholeOf(r), Summary: report.QuietLine(r)}
		a := v.of.answeredRun(r, e.ID)
		e.Answer = &a
	}
	l := &v.of.loads
	l.mu.Lock()
	defer l.mu.Unlock()
	l.journal.appendEvent("end", e) // before another load can begin, whose journal it would end
	l.last = r
	l.release()
}

// A whole load is what the first screen of its report shows in numbers, with the names that a
// result has for them.
type whole struct {
	Window   result.Window   `json:"window"`
	Requests result.Requests `json:"requests"`
	Tiles    []payload.Tile  `json:"tiles"`
	Errors   []result.Error  `json:"errors,omitempty"`
}

// wholeOf is the whole load of a result. Samples of errors are for the report: they are large.
func wholeOf(r *result.Result) *whole {
	w := &whole{Window: r.Window, Requests: r.Requests, Tiles: payload.TilesOf(r)}
	for _, f := range r.Errors[:min(len(r.Errors), mostFailures)] {
		f.Sample = ""
		w.Errors = append(w.Errors, f)
	}
	return w
}

// lastID names the result of the load that was shown last, stored or not.
const lastID = "last"

// stopRunning stops the load, or the experiment of a folder; ok is false if that does not run.
func (l *loads) stopRunning(lab string) (ok bool) {
	l.mu.Lock()
	stop, is := l.stop, l.stop != nil && l.lab == lab
	l.mu.Unlock()
	if is {
		stop()
	}
	return is
}

// stopAndWait stops what runs, begins no more, and waits for its end.
func (l *loads) stopAndWait() {
	l.mu.Lock()
	l.closed = true
	lab := l.lab
	l.mu.Unlock()
	l.stopRunning(lab)
	l.running.Wait()
}

// beginLoad begins the load of a form.
func (s *Server) beginLoad(w http.ResponseWriter, r *http.Request) {
	job, faults, ok := s.readJob(w, r)
	if !ok {
		return
	}
	if len(faults) > 0 {
		answerJSON(w, http.StatusUnprocessableEntity, formFaults{faults})
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	show, err := s.Show(job.Plan, cancel)
	if err != nil {
		cancel()
		answerError(w, http.StatusConflict, err.Error())
		return
	}
	go func() {
		defer cancel()
		show.End(job.Run(ctx, job.Plan, show.Interval))
	}()
	answerJSON(w, http.StatusCreated, struct{}{})
}

// answeredTooLarge answers a request of more than bodyBytes, if err says that it was one.
func answeredTooLarge(w http.ResponseWriter, err error) bool {
	most, is := errors.AsType[*http.MaxBytesError](err)
	if is {
		answerError(w, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("a request may have %d bytes", most.Limit))
	}
	return is
}

func errorList(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}

// stopLoad stops the load, whoever began it.
func (s *Server) stopLoad(w http.ResponseWriter, r *http.Request) {
	if !s.loads.stopRunning("") {
		answerError(w, http.StatusConflict, "no load is running")
		return
	}
	answerJSON(w, http.StatusAccepted, struct{}{})
}

func (s *Server) watchLoad(w http.ResponseWriter, r *http.Request) {
	s.sendEvents(s.loads.journal, w, r)
}

// formFaults is the answer to a form with faults.
type formFaults struct {
	Faults []Fault `json:"faults"`
}

// faultsOf puts each error at the field that it names.
func faultsOf(errs []error, form Form) (all []Fault) {
	for _, err := range errs {
		f := Fault{Problem: err.Error()}
		if flaw, is := errors.AsType[loadplan.Flaw](err); is {
			f = Fault{Field: fieldOf(flaw.Setting, form), Problem: flaw.Says()}
		}
		all = append(all, f)
	}
	return all
}

// fieldOf is the first that a setting names, as "--cert, --key" does; of those that the form
// has, if there is one.
func fieldOf(setting string, form Form) string {
	names := strings.FieldsFunc(strings.ToLower(setting), func(r rune) bool {
		return r == ' ' || r == ','
	})
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, "--")
		if len(form[names[i]]) > 0 {
			return names[i]
		}
	}
	return names[0] // no Flaw is without a setting
}

// readForm reads an object of strings, numbers, switches, and lists of them. What is
// empty was not given.
func readForm(r *http.Request) (Form, error) {
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return nil, fmt.Errorf("reading the form: %w", err)
	}
	form := Form{}
	for name, value := range fields {
		list, is := value.([]any)
		if !is {
			list = []any{value}
		}
		for _, v := range list {
			switch v := v.(type) {
			case nil:
			case string:
				if v != "" {
					form[name] = append(form[name], v)
				}
			case json.Number:
				form[name] = append(form[name], v.String())
			case bool:
				if v {
					form[name] = append(form[name], "true")
				}
			default:
				return nil, fmt.Errorf("reading the form: %q is no text, number or switch, nor a "+
					"list of them", name)
			}
		}
	}
	return form, nil
}

// answerJSON answers with JSON.
func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // a browser that has left needs no answer
}
