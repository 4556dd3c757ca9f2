package workload

import (
	"errors"
	"slices"
	"strings"

	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/template"
	"dyno/internal/fault"
	"dyno/internal/hole"
	"dyno/internal/lab/experiment"
)

// Check reports all that keeps the requests of e from being sent: faults of holes, data and
// checks, in its file and in those beside it, each with its place. It starts nothing. Whether files
// that are no data can be read is reported when servers are prepared.
func Check(e *experiment.Experiment) error {
	f, err := Read(e, data.MaxBytes)
	faults := []error{err}
	if e.Workload.Hurl != "" {
		return errors.Join(append(faults, hurlFaults(e, f)...)...)
	}
	if e.Workload.Script != "" {
		return errors.Join(append(faults, scriptFaults(e, f)...)...)
	}
	faults = append(faults, userFaults(e)...)
	asked := map[string]bool{} // where texts were checked
	for _, v := range experiment.Expand(e) {
		at := "workload.request"
		if v.Request != nil {
			at = experiment.PathOf("variants", v.Of) + ".request"
		}
		if asked[at] {
			continue
		}
		asked[at] = true
		wrong := textFaults(e, f, at, v.Asked())
		if len(wrong) == 0 {
			wrong = requestFaults(e, f, at, v)
		}
		faults = append(faults, wrong...)
	}
	return errors.Join(append(faults, otherPathFaults(e, f)...)...)
}

// userFaults are those of who sends requests, if it comes from the environment: all else of the
// workload was checked when it was read.
func userFaults(e *experiment.Experiment) (faults []error) {
	w, err := e.Workload.ExpandVariables(nil)
	if err == nil && w.SetPlan(new(loadplan.Plan)) != nil {
		faults = append(faults, e.FaultIn("workload.user", "", 0,
			"what comes from the environment has no colon; it is to be USER:PASSWORD"))
	}
	return faults
}

// textFaults are the faults of holes in the texts of a request, which stands at a path.
func textFaults(e *experiment.Experiment, f *Inputs, at string,
	r experiment.Request) (faults []error) {
	check := func(path, text string) {
		// What is taken from the environment is no hole of these.
		plain := experiment.ReplaceEnv(text, func(s string, _ hole.Env) string {
			return strings.Repeat("x", len(s))
		})
		_, err := f.names.Parse(plain, template.Position{Line: 1, Column: 1})
		for _, one := range joined(err) {
			found, is := errors.AsType[fault.Fault](one)
			if !is || found.Line == 0 {
				faults = append(faults, e.FaultIn(path, "", 0, one.Error()))
				continue
			}
			from := offsetOf(text, found.Line, found.Column)
			wrong := text[from : from+max(hole.Length(text[from:]), len("{{"))]
			nth := strings.Count(text[:from], wrong)
			faults = append(faults, e.FaultIn(path, wrong, nth, found.Problem))
		}
	}
	check(at+".path", r.Path)
	for _, h := range r.Headers {
		check(experiment.PathOf(at+".headers", h.Name), h.Value)
	}
	check(at+".body", r.Body)
	return faults
}

// offsetOf is how many bytes of a text are before a line and a column, which count from 1.
func offsetOf(text string, line, column int) int {
	at := 0
	for range line - 1 {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return at + column - 1
}

// requestFaults are the faults of the requests of a variant whose texts have none: in files, and in
// what the texts become.
func requestFaults(e *experiment.Experiment, f *Inputs, at string,
	v experiment.Variant) (faults []error) {
	w := Of(e, v)
	var err error
	if w, err = w.ExpandVariables(nil); err != nil {
		return nil // it names a variable that is not set, and so is not available
	}
	url := string(v.URL)
	if strings.Contains(url, "{{") {
		url = "http://localhost/" // what is sent is the same everywhere
	}
	u, err := requests.Parse(url)
	if err != nil {
		return nil // it is reported when the variant is rendered
	}
	u.Path = "/" // that it is not the request's is reported then, too
	all, err := buildRequests(e, f, w, u)
	for _, one := range joined(err) {
		found, ofText := errors.AsType[fault.Fault](one)
		switch {
		case ofText && (found.File == w.RequestsFile || found.File == w.URLs):
			faults = append(faults, one)
		case ofText && found.File == "body" && w.Request.BodyFile != "":
			found.File = w.Request.BodyFile
			faults = append(faults, found)
		case ofText:
			faults = append(faults, e.FaultIn(at, "", 0, found.Problem))
		case w.RequestsFile == "" && w.URLs == "":
			faults = append(faults, e.FaultIn(at, "", 0, one.Error()))
		}
	}
	p := loadplan.Plan{Requests: all}
	if err != nil || f.names.Unread {
		return faults
	}
	if w.SetPlan(&p) != nil {
		return faults // see userFaults
	}
	f.fillPlan(&p, w)
	if err := onestep.SetScenario(&p, f.table); err != nil {
		faults = append(faults, e.FaultIn(at, "", 0, err.Error()))
	}
	if v.Generator != nil && (p.HasHoles() || p.Rows != nil || p.HasUsers() || p.Auth != "") {
		faults = append(faults, e.FaultIn(experiment.PathOf("variants", v.Of)+".generator", "", 0,
			"another program fills no holes, has no rows and users, and does not sign; "+
				"leave the generator out, or them"))
	}
	return faults
}

// joined are the errors that errors.Join joined, or err alone; none of nil.
func joined(err error) (all []error) {
	if err == nil {
		return nil
	}
	several, is := err.(interface{ Unwrap() []error })
	if !is {
		return []error{err}
	}
	for _, one := range several.Unwrap() {
		all = slices.Concat(all, joined(one))
	}
	return all
}
