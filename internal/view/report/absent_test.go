package report

import (
	"io"
	"testing"

	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

func TestAbsentParts(t *testing.T) {
	all := fixtures(t)
	all["waited"], all["few users"], all["all wrong"] = waited(), fewUsers(), waited()
	r := all["all wrong"]
	r.Latency, r.Service, r.ErrorLatency = nil, nil, r.Latency
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			reporttest.EachAbsent(t, r, func() {
				for _, s := range []format.Style{{}, {Detail: true}} {
					Text(io.Discard, r, s)
				}
				Quiet(io.Discard, r)
				Markdown(io.Discard, r)
				CSV(io.Discard, r)
				JUnit(io.Discard, r)
				RunAnswer(r).Markdown("dyno run x", answer.Limits{})
			})
		})
	}
}
