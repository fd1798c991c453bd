// Package logging writes the traffic of a connection to a log without its
// secrets.
//
// [Traffic] adapts an hclog logger. Give it to a connection as its tap, and
// every message is recorded at level Debug:
//
//	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Debug})
//	options.Tap = logging.NewTraffic(logger, &logging.Options{Redact: []string{"pin"}})
//
// [Redactor] is the part that takes the secrets out, for use with any other
// sink.
//
// [Feed] hands the traffic of any number of connections to a sink on a goroutine
// of its own, so that no connection ever waits for it. [Recorder] is such a sink:
// it writes a file of JSON lines, a recording, to be read by [RecordReader].
//
// # Recordings
//
// Each line of a recording is one object, a [Record]. The first has the kind
// header, the format "tandem-traffic" and the version 1:
//
//	{"time":"2026-05-01T12:00:00.1Z","kind":"header","process":"9f3c","format":"tandem-traffic","version":1,"program":"notes"}
//	{"time":"2026-05-01T12:00:00.2Z","kind":"open","process":"9f3c","connection":"stdio","protocol":"lsp","cancel":[{"method":"$/cancelRequest","param":"id"}]}
//	{"time":"2026-05-01T12:00:00.3Z","process":"9f3c","connection":"stdio","direction":"inbound","unit":1,"length":45,"message":"{\"jsonrpc\":\"2.0\",…"}
//	{"time":"2026-05-01T12:00:00.4Z","process":"9f3c","connection":"stdio","direction":"outbound","length":38,"message":"{\"jsonrpc\":\"2.0\",…"}
//	{"time":"2026-05-01T12:00:00.4Z","kind":"timing","process":"9f3c","connection":"stdio","unit":1,"id":"1","queued_ns":1200,"run_ns":81000}
//	{"time":"2026-05-01T12:00:01.5Z","kind":"close","process":"9f3c","connection":"stdio"}
//	{"time":"2026-05-01T12:00:01.6Z","kind":"end","process":"9f3c"}
//
// A client that has said what it calls itself when its connection begins, as those over HTTP have, is in member client of the record that opens it. Later
// processes may append theirs, each beginning with a header; member process
// tells apart what several write at once. What did not get into the file because
// it was too slow is counted by records of the kind dropped.
//
// # What is taken out
//
// Members of JSON objects, at any depth, whose name is one of these or was
// added by [NewRedactor]: the value becomes "[redacted]", whatever its type.
//
//	authorization  proxyauthorization  apikey        xapikey      accesstoken
//	refreshtoken   idtoken             token         password     passwd
//	secret         clientsecret        cookie        setcookie    credential
//	credentials    privatekey          sessionid     mcpsessionid
//
// Names are compared decoded, without regard to case, '_' and '-': api_key,
// X-Api-Key and ap\u0069Key are all found. A name that merely contains one of
// these, such as tokenCount, is not.
//
// In every string, wherever it stands, names of members included:
//
//   - the user-info of a URL: https://user:pass@host becomes
//     https://[redacted]@host. What is user-info is decided by the grammar of
//     URLs (RFC 3986), so https://host?mail=a@b stays. Where the part before a
//     delimiter cannot be a host and port, as in https://user:pa/ss@host, it is
//     taken for a password that should have been percent-encoded;
//   - secret-named parameters in the query or fragment of a URL: ?api_key=x
//     becomes ?api_key=[redacted]. Names are percent-decoded. URLs inside a
//     parameter, with their separators encoded, are looked at too;
//   - tokens after Bearer or Basic, whose scheme then reads Bearer: "Basic abc" becomes "Bearer [redacted]";
//   - lines that begin like an HTTP header of credentials, as in "Cookie: a=b";
//   - a string that is itself a JSON object or array is redacted like one,
//     three levels deep;
//   - members with quoted names in what is left: JSON that was cut off, or that
//     stands in a sentence, as in error: {"token":"abc".
//
// Other text is kept: a string "password=x" is not a URL, and a password in a
// sentence cannot be told from any other word. Taking out secrets is a net, not
// a wall; keep logs of traffic as private as the traffic.
//
// All other bytes stay as they are. A message that is not JSON is logged as
// [Failed] and nothing else, since there is no telling where its secrets are.
//
// # Forged records
//
// Whatever a peer sends ends up in a quoted value, never in the message or the
// key of a record, and characters that could start a new line or control a
// terminal are escaped in both formats of hclog.
package logging
