package dyno

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/setting/settingtest"
)

// Every setting that the table has of the library becomes the plan that its flag makes, and what is
// wrong is refused by the name of the field.
func TestSettingsOfTheLibrary(t *testing.T) {
	for i := range setting.Table {
		s := &setting.Table[i]
		if s.Library == "" || s.Take == nil {
			continue
		}
		sample := settingtest.Samples[s.Name]
		if sample.Value == nil {
			t.Errorf("%s: a sample without a value of the library", s.Name)
			continue
		}
		load := func(value any) Load {
			l := Load{URL: settingtest.TLS, Rate: 1}
			if s.Name == "users" {
				l.Scenario = func(*User, *Response) (*Request, error) { return nil, nil }
			}
			reflect.ValueOf(&l).Elem().FieldByName(s.Library).Set(reflect.ValueOf(value))
			return l
		}
		p, faults := load(sample.Value).plan()
		if len(faults) > 0 || !slices.Equal(s.Text(&p), []string{sample.Good}) {
			t.Errorf("%s: %q, %q", s.Library, s.Text(&p), faults)
		}
		if sample.WrongValue == nil {
			continue // every value of its type is right
		}
		p, faults = load(sample.WrongValue).plan()
		all := fieldErrors(errors.Join(append(faults, p.Check())...))
		named := slices.ContainsFunc(all, func(err error) bool {
			f, is := errors.AsType[FieldError](err)
			return is && f.Field == s.Library
		})
		if !named {
			t.Errorf("%s: %q", s.Library, all)
		}
	}
}

// What the library advises names its own fields: of warnings, and of what failed.
func TestAdviceNamesFields(t *testing.T) {
	var of result.Result
	of.Warn(fact.Fact{Args: fact.NotInTime{Never: 3, Shortage: fact.Shortage{Of: fact.OfConnections, Connections: 2}},
		Remedies: fact.Shortage{Of: fact.OfConnections}.Remedies()},
		fact.Fact{Args: fact.RequestsUnanswered{Percent: 5}, Remedies: []fact.Remedy{{Setting: "drain", Value: fact.Higher}}},
		fact.Fact{Args: fact.RedirectsOnly{Status: []int{302}}, Remedies: []fact.Remedy{{Setting: "follow", Value: "10"}}})
	of.Errors = []result.Error{{Phase: "tls", Kind: "certificate", Count: 1, Detail: "not trusted here",
		Remedies: []fact.Remedy{{Setting: "cacert", Value: fact.Some}, {Setting: "insecure", Value: fact.Some}}}}
	r := newResult(&of)
	for i, want := range []string{"; raise Connections, or lower Rate", "; give a longer Drain", "; load the URL they lead to, or set Follow to 10"} {
		if !strings.HasSuffix(r.Warnings[i], want) {
			t.Errorf("%q does not end with %q", r.Warnings[i], want)
		}
	}
	if want := "not trusted here; set RootCAs, or set Insecure"; r.Failures[0].Detail != want {
		t.Errorf("%q", r.Failures[0].Detail)
	}
}

// What a Load cannot have no objective of it can be about.
func TestObjectivesThatNoLoadMeets(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), Load{URL: "http://127.0.0.1:9/", Objectives: []string{"gap.max<1s, good>99%"}})
	const want = "Objectives: gap.max<1s is of streams of events\nObjectives: good>99% is of the requests that meet limits"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
