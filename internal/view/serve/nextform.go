package serve

import (
	"net/url"

	"dyno/internal/result"
	"dyno/internal/view/report"
)

// nextForm is the page whose form is filled in for the next step after a result; "" if the form
// does not have all of it.
func (s *Server) nextForm(r *result.Result, id string) string {
	p, ok := report.NextLoad(r)
	if !ok || s.Read == nil || len(s.filledFormOf(withPlan(r, p)).Lost) > 0 {
		return ""
	}
	return "/live?repeat=" + url.QueryEscape(id) + "&next"
}
