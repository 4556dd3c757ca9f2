package reporttest

import (
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
)

// AddDoubt adds a fact to r, and to the reasons of its generator's self-check, as the judge of
// results does, but for the verdict.
func AddDoubt(r *result.Result, cause result.Cause, kind result.Kind, f fact.Fact) {
	verdict := map[fact.Severity]string{fact.Note: result.OK, fact.Warning: result.Suspect,
		fact.Error: result.ClientBound}[f.Severity]
	r.Facts = append(r.Facts, f)
	g := &r.Generator
	g.Reasons = append(g.Reasons, say.Sentence(f))
	g.Doubts = append(g.Doubts, result.Doubt{Cause: cause, Kind: kind, Verdict: verdict})
}

// AddWarning adds a fact to r, and its text to the warnings.
func AddWarning(r *result.Result, args fact.Args, remedies ...fact.Remedy) {
	f := fact.Fact{Severity: fact.Warning, Args: args, Remedies: remedies}
	r.Facts, r.Warnings = append(r.Facts, f), append(r.Warnings, say.Text(f, r.Voice()))
}
