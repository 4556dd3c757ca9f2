package serve

import (
	"net/http"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/view/repeat"
	"dyno/internal/view/report"
)

// serveForm answers with the fields of the form.
func (s *Server) serveForm(w http.ResponseWriter, r *http.Request) {
	answerJSON(w, http.StatusOK, struct {
		Groups  []Group `json:"groups"`
		Targets string  `json:"targets"` // what is allowed, in words
	}{s.Form, s.Targets.String()})
}

// readJob reads the load that a form asks for, or what is wrong with it. What it cannot do it
// answers itself; ok is false then.
func (s *Server) readJob(w http.ResponseWriter, r *http.Request) (job Job, faults []Fault,
	ok bool) {
	if s.Read == nil {
		answerError(w, http.StatusNotFound, "this dashboard shows one load and begins none; "+
			"dyno serve does")
		return job, nil, false
	}
	form, err := readForm(r)
	if answeredTooLarge(w, err) {
		return job, nil, false
	}
	if err != nil {
		return job, []Fault{{Problem: err.Error()}}, true
	}
	job, errs := s.Read(form)
	if len(errs) == 0 {
		errs = errorList(s.Targets.checkPlan(r.Context(), &job.Plan))
	}
	return job, faultsOf(errs, form), true
}

// checkForm answers with what is wrong with a form, and begins nothing.
func (s *Server) checkForm(w http.ResponseWriter, r *http.Request) {
	if _, faults, ok := s.readJob(w, r); ok {
		answerJSON(w, http.StatusOK, formFaults{faults})
	}
}

// A filledForm is the settings of a load that has been, as the form has them.
type filledForm struct {
	Fields Form     `json:"fields"`
	Lost   []string `json:"lost,omitempty"` // settings that the form has not, or the result
	Next   bool     `json:"next,omitempty"` // they are those of the next step after it
}

// serveFilledForm answers with the form as it was filled in for a result; with ?next as the next
// step after it wants, if that is a load.
func (s *Server) serveFilledForm(w http.ResponseWriter, r *http.Request) {
	found := s.findResult(w, r.PathValue("id"))
	if found == nil {
		return
	}
	p, ok := report.NextLoad(found)
	ok = ok && r.URL.Query().Has("next")
	if ok {
		found = withPlan(found, p)
	}
	form := s.filledFormOf(found)
	form.Next = ok
	answerJSON(w, http.StatusOK, form)
}

// withPlan is a result of another plan, for what depends on the plan alone.
func withPlan(r *result.Result, p loadplan.Plan) *result.Result {
	changed := *r
	changed.Plan = p
	return &changed
}

// filledFormOf is the form of a result. A secret that the result does not hold stays empty.
func (s *Server) filledFormOf(r *result.Result) filledForm {
	settings, lost := repeat.Settings(r.Plan)
	fields := map[string]Field{}
	for _, g := range s.Form {
		for _, f := range g.Fields {
			fields["--"+f.Name], fields["-"+f.Short] = f, f
		}
	}
	form := Form{"url": {r.Plan.Target.URL}}
	for _, o := range r.Objectives {
		form["slo"] = []string{strings.TrimPrefix(strings.Join(form["slo"], "")+", "+o.Expr, ", ")}
	}
	for _, one := range settings {
		f, is := fields[one.ShortFlag()]
		switch {
		case !is:
			lost = append(lost, one.ShortFlag())
		case redact.HasMark(one.Argument): // Settings has said so
		case f.Value == "":
			form[f.Name] = []string{"true"}
		default:
			form[f.Name] = append(form[f.Name], inUnit(one.Argument, f.Unit))
		}
	}
	if given := form["threads"]; given != nil && s.Read != nil { // by whom, a result does not say
		delete(form, "threads")
		if job, _ := s.Read(form); job.Plan.Threads != r.Plan.Threads {
			form["threads"] = given
		}
	}
	return filledForm{Fields: form, Lost: lost}
}

// inUnit is a value without its unit, where the field has that beside it: 10s is 10.
func inUnit(value, unit string) string {
	number, has := strings.CutSuffix(value, unit)
	if _, err := strconv.ParseFloat(number, 64); !has || err != nil {
		return value
	}
	return number
}
