package chart

import (
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/payload"
	"dyno/internal/view/reporttest"
)

func TestAbsentParts(t *testing.T) {
	for name, r := range map[string]*result.Result{"closed": reporttest.Closed(), "late": reporttest.Late(),
		"failing": reporttest.Failing(), "watched": reporttest.Watched(), "shopping": reporttest.Shopping()} {
		t.Run(name, func(t *testing.T) {
			reporttest.EachAbsent(t, r, func() { Run(payload.OfRun(r)) })
		})
	}
}
