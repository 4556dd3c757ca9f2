package workload

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/template"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/experiment/secrets"
	"dyno/internal/result/plansecrets"
)

// HasSecrets reports whether there is something to mark in what is stored of e: in its file, in
// what it takes from the environment, or in requests that it reads from files. A file that cannot
// be read has what nobody knows.
func HasSecrets(e *experiment.Experiment) bool {
	has := false
	note := func(_, value string) string {
		has = has || value != ""
		return value
	}
	if _, err := secrets.TakeOut(e, note); err != nil || has {
		return true
	}
	somewhere, err := requests.Parse("http://localhost/") // what is sent is the same everywhere
	if err != nil {
		return true
	}
	for _, v := range experiment.Expand(e) {
		if len(v.Environment()) > 0 {
			return true
		}
		w := Of(e, v)
		if w, err = w.ExpandVariables(nil); err != nil {
			continue // it names a variable that is not set, and so is not available
		}
		any := &Inputs{names: template.Names{Variables: variables(e.Workload), Unread: true}}
		all, err := buildRequests(e, any, w, somewhere)
		if plansecrets.Redacted(loadplan.Plan{Requests: all}, note); err != nil || has {
			return true
		}
	}
	return false
}
