package drawing

import (
	"fmt"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

// inks are the colours of the page's style sheet (web/src/style.css), light and dark. A test holds
// them to it.
var inks = map[string]struct{ light, dark uint32 }{
	"paper": {0xffffff, 0x14171a}, "ink": {0x1a1d20, 0xe6e8ea}, "faint": {0x5a6268, 0xa0a8ae},
	"line": {0xd5d9dc, 0x363c42}, "good": {0x006b4f, 0x3ccb9f}, "doubt": {0x8a5a00, 0xf0b440},
	"bad": {0xb32d00, 0xff8a65},
	"c1":  {0x0072b2, 0x56b4e9}, "c2": {0xd55e00, 0xff9a4d}, "c3": {0x007f5c, 0x2fc79b},
	"c4": {0xb4508d, 0xe79cc6}, "c5": {0x6f4a00, 0xf2d060}, "c6": {0x3b2f8f, 0x7a6cf0},
	"c7": {0x333333, 0xffffff}, "c8": {0x8c8c00, 0xfbf6a0},
	"a1": {0x0072b2, 0x3f9fd8}, "a2": {0xd99000, 0xf0c030}, "a3": {0x006b4f, 0x178a68},
	"a4": {0xd585b3, 0xe79cc6}, "a5": {0x1a1d20, 0xffffff}, "a6": {0xa02800, 0xd84a1a},
	"h0": {0xeef4fb, 0x14222e}, "h1": {0xd3e3f3, 0x12354c}, "h2": {0xb0cfe8, 0x0f4a6b},
	"h3": {0x84b5da, 0x15628b}, "h4": {0x5797c8, 0x2a7eab}, "h5": {0x3178b0, 0x4d9cc6},
	"h6": {0x1b5b93, 0x7cbbdc}, "h7": {0x0f3f70, 0xb0d8ec}, "h8": {0x08264a, 0xe9f6fc},
}

// faces are the two faces that pictures have: a PNG needs letters, and an SVG their widths.
type faces struct{ regular, bold font.Face }

// readFaces reads the faces, once.
var readFaces = sync.OnceValues(func() (faces, error) {
	regular, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return faces{}, fmt.Errorf("reading the font: %w", err)
	}
	bold, err := opentype.Parse(liberationsansbold.TTF)
	if err != nil {
		return faces{}, fmt.Errorf("reading the font: %w", err)
	}
	of := font.Font{Typeface: "Liberation", Variant: "Sans"}
	strong := of
	strong.Weight = xfont.WeightBold
	return faces{font.Face{Font: of, Face: regular}, font.Face{Font: strong, Face: bold}}, nil
})

// Colours returns the colours of pictures by their names in the style sheet, each as its light and
// its dark form in hexadecimal.
func Colours() map[string][2]string {
	all := map[string][2]string{}
	for name, c := range inks {
		all[name] = [2]string{fmt.Sprintf("%06x", c.light), fmt.Sprintf("%06x", c.dark)}
	}
	return all
}
