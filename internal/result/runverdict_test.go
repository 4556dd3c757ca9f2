package result

import "testing"

// What the server did comes before the objectives, and these before the generator.
func TestRunVerdict(t *testing.T) {
	at := func(completed, errors int64, set func(*Result)) *Result {
		r := &Result{Generator: Generator{Verdict: Suspect}, Requests: Requests{Sent: completed + errors,
			Completed: completed, Errors: errors}, Objectives: []Outcome{{Met: true}}}
		if set != nil {
			set(r)
		}
		return r
	}
	miss := func(r *Result) { r.Objectives = append(r.Objectives, Outcome{}) }
	open := func(r *Result) { r.Objectives = append(r.Objectives, Outcome{Undecided: NoAnswers}) }
	for want, all := range map[string][]*Result{
		Unanswered: {at(0, 0, nil), at(0, 10, miss)},
		Failing: {at(99, 1, miss), at(1000, 0, func(r *Result) {
			r.Iterations = &Iterations{Started: 50, Failed: 1}
		})},
		Missed:    {at(1000, 1, miss), at(1000, 1, func(r *Result) { open(r); miss(r) })},
		Undecided: {at(1000, 1, open)},
		Suspect:   {at(1000, 1, nil)},
		OK:        {at(1000, 0, func(r *Result) { r.Generator.Verdict = OK })},
	} {
		for i, r := range all {
			if got := r.RunVerdict(); got != want {
				t.Errorf("%s %d: %s", want, i, got)
			}
		}
	}
}
