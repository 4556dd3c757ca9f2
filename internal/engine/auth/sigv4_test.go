package auth

import (
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
)

// Signatures are those that AWS's own client for Python (botocore) makes of the same request once it is
// escaped: /a=b is sent as it is, and signed as the /a%3Db that botocore would send. The key and some requests
// are those of AWS's test suite.
func TestSignatures(t *testing.T) {
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	for _, c := range []struct{ service, path, want string }{
		{"service", `/`, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"service", `/?Param2=value2&Param1=value1`, "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"service", `/?Param1=value2&Param1=value1`, "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"},
		{"service", `/?a=&b`, "df0cf4d99575de2988d710990cf530772494504e76e7b9965f757c8b9c79ab85"},
		{"service", `/?acl`, "06f239ec83cd47b28ade495a426887f0c088d2396a702f8cd8fda356f210797d"},
		{"service", `/?a=1;b=2&c`, "7fd67c0a3feb58d469a1383e3299b531af093ddef5c993e42863f83ea004caf4"},
		{"service", `/?x=a+b&x=a%20c&x=%2f`, "5b729edc7998fff42d15b77dcd5ac6fdd4cb57763321ac17ede6bfef99f332e6"},
		{"service", `/?x=100%&y=%zz`, "ed0adacb7af42f8ac33ce69a19455e678ec52d6e056fbc69c15537cc51613f7e"},
		{"service", `/?-._~=-._~&%E1%88%B4=%E1%88%B4`, "45eaacb950c05ed1bd019441a521e3263c530cd0ea85c7f48d81fdc46b90c279"},
		{"service", `/?a=b=c&a-=1&a/=2&&`, "5bec7718fc3bc6b9a83f7b20d3df5280a9a7c0da4ae26afa9c63b09d563dfbe0"},
		{"service", `/example/..`, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"service", `/./example//x/../`, "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
		{"service", `//`, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"service", `/a%20b=c+d:e`, "d19e08e948dd1f9c56263b427734887f4d32d97b5de3d2ce8dc83a9eb6ac07f9"},
		{"service", `/a%2Fb`, "1f6a184cf6814c4a68548c923194021e047ba5e48b0caba93a1c8936b11c5328"},
		{"s3", `/bucket/a=b+c`, "a564121874f57e346e1423b1c589992868abbcf0a39cade58cde01cdcd129f94"},
		{"s3", `/bucket/a%3Db%2bc`, "a564121874f57e346e1423b1c589992868abbcf0a39cade58cde01cdcd129f94"},
		{"s3", `/bucket/(a)*'!$&,:;@~%25`, "d38c98ad5fa6f4eeae0182750b1a4a27b9d1176e959409b19b98fea061e64a4d"},
		{"s3", `/bucket/a%20b//../c`, "1a7f0c8ab57b6856182a2e11b70f0fd8a4890de8d3a5cd1c2bcd68aa01800d06"},
		{"s3", `/bucket/%E1%88%B4%zz`, "98a240b5cc12eaf8e78ab8f96a50c7916e3a057976048ac04144e2744134c5e7"},
		{"s3", `/bucket/what%3F%23`, "f081c9c2fc95ea1a703cf20bbfed84d844ec4fbda6ea8e5c37d527c8085266a2"},
		{"s3", `/bucket?list-type=2&prefix=a/b&delimiter=/&start-after=`, "156f8425e66fd9a1de71dcc9a85c20bb3c9dc4fc52483ff88f7b68d3520b822a"},
		{"s3", `/bucket/k?response-content-type=a;q%3d1&versionId`, "312818ffbc782d14d61b2f2b543a3777360e85f3cda03b4a38e2981fc653c55a"},
	} {
		if got := signature(c.service, proto.Request{Method: "GET", Path: c.path}, at); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.service, c.path, got, c.want)
		}
	}
	for service, c := range map[string]struct {
		request proto.Request
		want    string
	}{
		"service": {proto.Request{Method: "POST", Path: "/", Body: []byte("hello"), Header: []proto.Field{
			{Name: "my-header1", Value: "value2  a"}, {Name: "Content-Type", Value: "text/plain"}}},
			"895281b3a8d56a40f409da729b2b97429c3effd07764c2dd4fb5b8436ffafa48"},
		"s3": {proto.Request{Method: "PUT", Path: "/b/k", Body: []byte{0, 1}},
			"b81823a5d851d17227990d9ce0dc2a73af414c26773528620c6ec7fe9b227c7d"},
	} {
		if got := signature(service, c.request, at); got != c.want {
			t.Errorf("%s, a body: %s, want %s", service, got, c.want)
		}
	}
}

// signature is that of a request to example.amazonaws.com by the user of AWS's test suite.
func signature(service string, r proto.Request, at time.Time) string {
	r.Authority = "example.amazonaws.com"
	u := user{request: r}
	newSigV4("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1", service, false).sign(&u, at)
	for _, f := range u.request.Header {
		if f.Name == "Authorization" {
			_, made, _ := strings.Cut(f.Value, "Signature=")
			return made
		}
	}
	return ""
}
