package vectors_test

import (
	"fmt"

	"github.com/tandem-rpc/tandem/internal/vectors"
)

// Two texts are the same JSON value exactly if their canonical texts are the same text.
func ExampleCanonical() {
	for _, text := range []string{`{"b":1.50,"a":[]}`, ` { "a" : [] , "b" : 15e-1 } `, `9007199254740993`, `9007199254740993.0`, `9007199254740992`} {
		spelled, err := vectors.Canonical([]byte(text))
		fmt.Println(spelled, err)
	}
	// Output:
	// {"a":[],"b":15e-1} <nil>
	// {"a":[],"b":15e-1} <nil>
	// 9007199254740993 <nil>
	// 9007199254740993 <nil>
	// 9007199254740992 <nil>
}
