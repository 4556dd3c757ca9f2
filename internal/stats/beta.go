package stats

import "math"

// studentT returns the p-quantile, 0.5 ≤ p < 1, of Student's t with df degrees of freedom.
func studentT(p, df float64) float64 {
	half, _ := math.Lgamma(df / 2)
	more, _ := math.Lgamma((df + 1) / 2)
	scale := math.Exp(more-half) / math.Sqrt(df*math.Pi)
	// Newton's steps from the first terms of the expansion about the normal quantile
	// (Abramowitz, Stegun, 26.7.5). They are less or very near, and above 0 the distribution
	// function is concave: no step goes too far.
	z := math.Sqrt2 * math.Erfinv(2*p-1)
	z3, z5 := z*z*z, z*z*z*z*z
	t := z + (z3+z)/(4*df) + (5*z5+16*z3+3*z)/(96*df*df)
	for range 100 {
		below := 1 - incompleteBeta(df/2, 0.5, df/(df+t*t))/2
		density := scale * math.Pow(1+t*t/df, -(df+1)/2)
		step := (p - below) / density
		t += step
		if math.Abs(step) <= 1e-10*(1+t) { // the next would be its square
			break
		}
	}
	return t
}

// incompleteBeta returns the regularised incomplete beta function I_x(a, b), 0 ≤ x ≤ 1, by
// its continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22), worked
// out forwards by the modified Lentz method. The fraction converges fast on the near side of
// the mean; beyond it I_x(a, b) = 1 − I_(1−x)(b, a).
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(b, a, 1-x)
	}
	ga, _ := math.Lgamma(a)
	gb, _ := math.Lgamma(b)
	gab, _ := math.Lgamma(a + b)
	front := math.Exp(gab - ga - gb + a*math.Log(x) + b*math.Log1p(-x))
	return front / a / betaFraction(a, b, x)
}

// betaFraction is 1 + d1/(1 + d2/(1 + …)) of DLMF 8.17.23.
func betaFraction(a, b, x float64) float64 {
	const tiny, precise, stepsMax = 1e-300, 1e-16, 10_000
	value, c, d := 1.0, 1.0, 0.0
	for k := 1; k <= stepsMax; k++ {
		m := float64(k / 2)
		var term float64
		if k%2 == 1 {
			term = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		} else {
			term = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		}
		d = 1 / nonZero(1+term*d, tiny)
		c = nonZero(1+term/c, tiny)
		value *= c * d
		if math.Abs(c*d-1) < precise {
			break
		}
	}
	return value
}

func nonZero(v, tiny float64) float64 {
	if math.Abs(v) < tiny {
		return tiny
	}
	return v
}
