package run

import (
	"errors"
	"fmt"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/fault"
	"dyno/internal/lab/experiment"
)

// errUnfilled is the fault of requests that only dyno run can send yet.
var errUnfilled = errors.New("the laboratory cannot fill {{holes}} in requests, or check what " +
	"expect_body and expect_header say, yet, as dyno run does; write what is sent, or \\{{ for {{")

// CheckRequests reports requests of e that have holes, or checks of their own. It starts nothing.
// What else is wrong with requests, or with the files that have them, is reported when servers are
// prepared.
func CheckRequests(e *experiment.Experiment) error {
	somewhere, err := requests.Parse("http://localhost/") // what is sent is the same everywhere
	if err != nil {
		return err
	}
	for _, v := range experiment.Expand(e) {
		w := workloadOf(e, v)
		if w.Request, err = w.Request.ExpandVariables(nil); err != nil {
			continue // it names a variable that is not set, and so is not available
		}
		all, err := buildRequests(e, w, somewhere)
		p := loadplan.Plan{Requests: all}
		_, unknown := errors.AsType[fault.Fault](err) // of a hole
		if unknown || err == nil && (p.HasHoles() || p.HasChecks()) {
			return fmt.Errorf("variants.%s: %w", v.Name, errUnfilled)
		}
	}
	return nil
}
