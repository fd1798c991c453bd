package jsonrpc2_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// A refused message does not end a stream, a lost frame does.
func ExampleOpen() {
	in := strings.NewReader("Content-Length: 4\r\n\r\ntrue" +
		"Content-Type: application/json; charset=utf-16\r\nContent-Length: 2\r\n\r\n{}" +
		"Content-Length: 6\r\n\r\nfal")
	t := jsonrpc2.Open(jsonrpc2.Join(in, os.Stdout), jsonrpc2.Header)
	for {
		message, err := t.Read()
		var refused *jsonrpc2.MessageError
		switch {
		case err == nil:
			fmt.Printf("%s\n", message)
		case errors.As(err, &refused):
			fmt.Println("skipped:", err)
		default:
			fmt.Println("lost:", err)
			return
		}
	}
	// Output:
	// true
	// skipped: Invalid Request: header Content-Type: charset is not utf-8
	// lost: end of input inside the body: 3 of 6 bytes missing
}

// One address can serve peers of both framings.
func ExampleDetect() {
	for _, sent := range []string{"[1]\n", "Content-Length: 3\r\n\r\n[2]"} {
		framing, rwc, err := jsonrpc2.Detect(jsonrpc2.Join(strings.NewReader(sent), io.Discard))
		if err != nil {
			fmt.Println(err)
			return
		}
		message, err := jsonrpc2.Open(rwc, framing).Read()
		fmt.Printf("%v: %s %v\n", framing, message, err)
	}
	// Output:
	// lines: [1] <nil>
	// header: [2] <nil>
}

func ExamplePipe() {
	here, there := jsonrpc2.Pipe()
	if err := here.Write([]byte("hello")); err != nil {
		fmt.Println(err)
	}
	here.Close()
	message, _ := there.Read()
	_, err := there.Read()
	fmt.Printf("%s, then %v\n", message, err)
	// Output: hello, then EOF
}
