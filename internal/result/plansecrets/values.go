package plansecrets

import (
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/hole"
	"dyno/internal/redact"
)

// Values are the values that Redacted takes out of p and those of the environment, each once,
// redact.MostKnown of them at most. Of a long one it is the beginning, with 4 KiB.
func Values(p loadplan.Plan) (all []string) {
	const longest = 4 << 10
	had := map[string]bool{}
	note := redact.Replacer(func(_, value string) string {
		if v := value[:min(len(value), longest)]; len(all) < redact.MostKnown && !had[v] {
			v = strings.Clone(v) // of a body that is not to be held by it
			all, had[v] = append(all, v), true
		}
		return value
	})
	for _, value := range p.Environment {
		if value != "" {
			note("", value)
		}
	}
	if _, password, _ := strings.Cut(p.User, ":"); password != "" {
		note("", password)
	}
	for i := range p.Requests {
		noteSigner(note, &p.Requests[i])
	}
	Redacted(p, note)
	for i := range p.Requests { // which Redacted has as they were written, with variables' names
		r := &p.Requests[i]
		if r.Template == nil {
			continue
		}
		for k, f := range r.Header {
			if len(r.FieldHoles(k)) == 0 {
				note.Header(f.Name, f.Value)
			}
		}
		noteFilledBody(note, &p, i)
		note.URL(r.Path)
	}
	return all
}

// noteSigner notes the password of who signs a request, USER:PASSWORD; with holes, the texts beside
// them.
func noteSigner(note redact.Replacer, r *loadplan.Request) {
	if r.Auth == "" {
		return
	}
	if _, password, _ := strings.Cut(signerOf(&r.Request), ":"); password != "" {
		note("", password)
	}
	if r.Template == nil {
		return
	}
	begun := false // behind the colon
	for p := range hole.Pieces(signerOf(r.Template)) {
		if p.Kind != hole.Literal {
			continue
		}
		text := p.Text
		if !begun {
			_, text, begun = strings.Cut(text, ":")
		}
		if text != "" {
			note("", text)
		}
	}
}

// signerOf is who signs a request; "" if it does not say so.
func signerOf(r *proto.Request) string { return fieldOf(r.Header, "Authorization") }

// noteFilledBody notes the secrets of the body of the request of that number. Its holes have a
// value, so that it is the JSON or the form that it will be. What a secret has besides its holes is
// noted; of a body that is neither, each request notes its own.
func noteFilledBody(note redact.Replacer, p *loadplan.Plan, i int) {
	redact.Replacer(func(name, value string) string {
		if fixed := strings.ReplaceAll(value, holeValue, ""); fixed == value || name != "body" {
			note(name, fixed)
		}
		return value
	}).Body(contentType(p.Requests[i].Header), filledAlike(p, i).Body)
}

// Known are the secrets of p, to be searched for in what others say. Where p goes is none of them,
// whatever header says the same. A nil keep knows nothing.
func Known(p loadplan.Plan, keep redact.Replacer) *redact.Known {
	if keep == nil {
		return nil
	}
	return redact.NewKnown(keep, Values(p), Destination(p)...)
}

// Destination is where p goes: scheme, host and port of its URL, its socket, and the addresses of
// its host, as far as they are known. It is in every result, and no secret.
func Destination(p loadplan.Plan) []string {
	t := p.Target
	scheme, rest, _ := strings.Cut(t.URL, "://")
	all := []string{scheme + "://" + rest[:strings.IndexAny(rest+"/", "/?#")], t.Host, t.Unix}
	for _, a := range p.Addresses {
		all = append(all, a.String())
	}
	return all
}
