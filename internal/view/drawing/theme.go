package drawing

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

// theme.json has the colours, light and dark, and the dashes of lines. Colours are after those of
// Okabe and Ito, in lightness too, lightened for dark. Lines also have a dash, points a shape;
// areas (a1 to a6) have neither, and colours that differ for every eye. Those of amounts (h0 to h8)
// are light to dark on paper, dark to light on black. The page's build reads the file, too.
//
//go:embed theme.json
var themeFile []byte

// A theme is theme.json.
type theme struct {
	Inks   map[string][2]string `json:"inks"`
	Dashes [][]float64          `json:"dashes"`
}

var readTheme = sync.OnceValue(func() (t theme) {
	if err := json.Unmarshal(themeFile, &t); err != nil {
		panic(err) // it is part of the program
	}
	return t
})

func dashOf(i int) []float64 {
	all := readTheme().Dashes
	return all[i%len(all)]
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
