package document

import (
	"fmt"
	"unicode/utf8"

	"dyno/internal/view/format"
)

// Room is how many characters are left for what is folded.
func (d Doc) Room() int { return d.Characters - utf8.RuneCountInString(d.unfolded()) }

// folded are the folded parts in Markdown, those for which there is room; "" if there is none.
func (d Doc) folded(room int) string {
	open := fmt.Sprintf("<details><summary>%s</summary>\n\n", format.EscapeCell(d.Fold))
	const end = "</details>\n"
	room -= utf8.RuneCountInString(open + end)
	text, taken := "", map[string]bool{}
	for _, p := range Filled(d.Parts) {
		if !p.Folded {
			continue
		}
		own := p.markdown()
		n := utf8.RuneCountInString(own)
		if p.Counts > 0 {
			n = min(n, p.Counts)
		} else if d.Characters > 0 && n > room || taken[p.Choice] {
			continue
		}
		text, room = text+own, room-n
		taken[p.Choice] = p.Choice != ""
	}
	if text == "" {
		return ""
	}
	return open + text + end
}
