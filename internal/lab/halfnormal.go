package lab

// A HalfNormal is the half-normal plot of a screening: the effects of one measure at one level by
// their size, with Lenth's margins of error. Sizes and margins are factors, 1 or more: an effect
// that halves or doubles the measure has the size 2. An interaction, which is a ratio of ratios,
// has the square root of its factor, so that the noise of all effects is the same.
type HalfNormal struct {
	Level   string             `json:"level"`
	Metric  string             `json:"metric"`
	Effects []HalfNormalEffect `json:"effects"` // the smallest first

	// Noise is the factor that noise has at the quantile 1: e to Lenth's pseudo standard error.
	// Alone is the margin of error of one effect, Together that of all, at 95 %. All three are absent
	// where effects are too few, or too much alike, to tell noise by.
	Noise    float64 `json:"noise,omitempty"`
	Alone    float64 `json:"margin_of_error,omitempty"`
	Together float64 `json:"simultaneous_margin_of_error,omitempty"`
}

// A HalfNormalEffect is a point of the plot.
type HalfNormalEffect struct {
	Comparison int     `json:"comparison"` // its place in the record's verdicts
	Name       string  `json:"name"`
	Size       float64 `json:"size"`
	Quantile   float64 `json:"quantile"` // of |z|, a standard normal variable
	// StandsOut: it is judged different, or lies beyond the simultaneous margin of error.
	StandsOut bool `json:"stands_out,omitempty"`
}
