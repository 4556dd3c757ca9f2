package document

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What is folded is there as far as there is room: whole parts, the first of a choice that has room, and in any case
// one that counts for few.
func TestFolded(t *testing.T) {
	part := func(text string) Part { return Part{Text: []string{text}, Folded: true} }
	choice := func(text string) Part {
		p := part(text)
		p.Choice = "a list"
		return p
	}
	gate := part(strings.Repeat("gate ", 100))
	gate.Counts = 10
	d := Doc{Fold: "More <b>", Parts: []Part{{Apart: true, Rows: []Row{{Text: "answer", Strong: true}}}, gate, part("first"),
		choice(strings.Repeat("long ", 20)), choice("short"), choice("shorter"), {Folded: true, Picture: Picture{"what it shows", "a b.svg"}}}}
	for room, want := range map[int]string{0: "gate first long !", 250: "gate first long !", 150: "gate first short !", 100: "gate first short", 75: "gate first"} {
		if d.Characters = room; room > 0 {
			d.Characters += utf8.RuneCountInString("**answer**\n\n")
		}
		text := d.Markdown()
		head, rest, found := strings.Cut(text, "<details><summary>More &lt;b></summary>\n\n")
		if head != "**answer**\n\n" || !found || !strings.HasSuffix(rest, "\n\n</details>\n") {
			t.Errorf("%q", text)
		}
		var got []string
		for _, block := range strings.Split(strings.TrimSuffix(rest, "</details>\n"), "\n\n") {
			if words := strings.Fields(block); len(words) > 0 {
				got = append(got, strings.TrimSuffix(words[0], "[what"))
			}
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("in %d characters: %q, not %q", room, all, want)
		}
	}
	if d.Parts = d.Parts[:1]; d.Markdown() != "**answer**\n" {
		t.Errorf("with nothing folded: %q", d.Markdown())
	}
}
