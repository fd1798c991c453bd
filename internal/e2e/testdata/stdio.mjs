// stdio.mjs SERVER...: vscode-jsonrpc as the client of an echo server on stdio.
import { assert, check, rpc, runChecks, start, trouble, within } from "./checks.mjs";
import { echoChecks } from "./echo.mjs";

const server = start(process.argv.slice(2), ["pipe", "pipe", "inherit"]);
const connection = rpc.createMessageConnection(
  new rpc.StreamMessageReader(server.stdout),
  new rpc.StreamMessageWriter(server.stdin),
);
const complaints = trouble(connection);
connection.listen();

echoChecks(() => connection);
check("clean end", async () => {
  connection.end();
  server.stdin.end();
  assert.equal(await within(60_000, server.ended, "the end of the server"), 0);
  assert.deepEqual(complaints, []);
});
process.exit(await runChecks());
