package run

import (
	"dyno/internal/lab"
	"encoding/json"
	"strings"
	"testing"

	"dyno/internal/fairness"
	"dyno/internal/redact"
)

// A server may repeat a secret wherever it says something.
func TestAnswersConcealed(t *testing.T) {
	const secret = "s3cretvalue"
	c := concealer{keep: redact.Plainly, values: []string{secret}}
	said := "so " + secret + " it is"
	a := &fairness.Answer{URL: "http://h/" + secret, Reason: said, BodyStart: said,
		Header: []fairness.Line{{Name: "X-Said", Value: said}, {Name: "Location", Value: "/" + secret},
			{Name: "Set-Cookie", Value: "other"}},
		Gzip: &fairness.Encoded{Problem: said}, Unknown: &fairness.Unknown{Problem: said},
		Opens: fairness.Opens{Problem: said}, Varies: []string{"header " + secret}}
	c.answer(a)
	arm := &lab.Arm{Name: "one", Description: said, Missing: []string{said}, Unfit: said, Remedy: said, Version: said}
	c.arm(arm)
	for name, v := range map[string]any{"answer": a, "arm": arm} {
		b, err := json.Marshal(v)
		if err != nil || strings.Contains(string(b), secret) || strings.Contains(string(b), `"other"`) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
		if !strings.Contains(string(b), redact.Plain) {
			t.Errorf("%s: %s has no mark", name, b)
		}
	}
	kept := &fairness.Answer{Reason: said}
	if (concealer{}).answer(kept); kept.Reason != said {
		t.Errorf("%q, and nothing is concealed", kept.Reason)
	}
}
