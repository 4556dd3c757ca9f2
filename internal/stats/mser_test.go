package stats

import (
	"math/rand/v2"
	"testing"
)

// nile is the flow of the Nile at Aswan from 1871 to 1970, which fell in 1898: Cobb, "The
// problem of the Nile", Biometrika 65 (1978); R has it as Nile.
var nile = []float64{
	1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960,
	1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694,
	940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764,
	821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822,
	1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050,
	918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
}

// R: mser <- function(x, m) { k <- length(x) %/% m; z <- colMeans(matrix(x[1:(k*m)], m));
// s <- sapply(0:(k %/% 2), function(d) { r <- z[(d+1):k]; sum((r-mean(r))^2)/(k-d)^2 });
// d <- which.min(s)-1; c(d*m, d < k %/% 2) }
func TestMSER(t *testing.T) {
	rising := make([]float64, 30)
	for i := range rising {
		rising[i] = float64(i + 1)
	}
	for _, c := range []struct {
		name    string
		x       []float64
		batch   int
		cut     int
		settled bool
	}{
		{"warming", warming[:16], 1, 4, true},
		{"warming in fives", warming, 5, 5, true},
		{"the Nile", nile, 1, 28, true},
		{"never", rising, 1, 15, false},
		{"never, in fives", rising, 5, 15, false},
		{"equal", make([]float64, 20), 1, 0, true},
		{"one batch", nile[:9], 5, 0, false},
		{"three batches", nile[:19], 5, 0, false},
		{"the Nile in fives", nile, 5, 45, true},
		{"nothing", nil, 5, 0, false},
		{"no batches, so of one", nile, 0, 28, true},
	} {
		if cut, settled := MSER(c.x, c.batch); cut != c.cut || settled != c.settled {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, cut, settled, c.cut, c.settled)
		}
	}
}

// The cut makes the mean of a simulation that begins away from where it settles better on the
// whole, and hardly worse where there is nothing to cut: what it is for.
func TestMSERRemovesBias(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 1))
	errors := func(start float64) (whole, cut float64) {
		for range 2000 {
			x, at := make([]float64, 100), start
			for i := range x {
				at = 0.8*at + random.NormFloat64() // settles at 0
				x[i] = at
			}
			d, _ := MSER(x, 5)
			m, _ := moments(x)
			rest, _ := moments(x[d:])
			whole, cut = whole+m*m/2000, cut+rest*rest/2000
		}
		return whole, cut
	}
	if whole, cut := errors(40); cut > whole/3 {
		t.Errorf("far from rest: squared error %v of all, %v of what is left", whole, cut)
	}
	if whole, cut := errors(0); cut > 2*whole {
		t.Errorf("at rest: squared error %v of all, %v of what is left", whole, cut)
	}
}
