/**
 * A JSON-RPC node that is faster than any proxy before it: the first answer to a call comes from the benchmark's chain, all
 * later ones from memory, written to the socket by hand. `POST /hold` keeps answers back, `POST /release` lets them go.
 */
import { createServer, type Socket } from 'node:net';
import { createBenchChain, serveBenchChain } from '@chainstead/testkit';

/** What the program is told, as its one argument in JSON. */
export interface RpcUpstreamPlan {
  readonly chainId: number;
  readonly blocks: number;
}

const HEADERS = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ';
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const ID = /"id": ?(\d+|"[^"]*")/;

const plan = JSON.parse(process.argv[2] ?? '{}') as RpcUpstreamPlan;
const node = await serveBenchChain(createBenchChain(plan));
/** What follows the id in the answer to a call, by the call without its id. */
const answers = new Map<string, string>();
let held: (() => void)[] | null = null;

const server = createServer((socket) => {
  let received = '';
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    received += chunk;
    for (;;) {
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = received.slice(0, end);
      const bodyEnd = end + 4 + Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0);
      if (received.length < bodyEnd) return;
      const body = received.slice(end + 4, bodyEnd);
      received = received.slice(bodyEnd);
      serve(socket, head, body);
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`Listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
process.on('SIGTERM', () => process.exit(0));

function serve(socket: Socket, head: string, body: string): void {
  if (head.startsWith('POST /hold ')) respond(socket, hold());
  else if (head.startsWith('POST /release ')) respond(socket, release());
  else answerCall(socket, body);
}

function hold(): string {
  held ??= [];
  return '{}';
}

function release(): string {
  const waiting = held ?? [];
  held = null;
  for (const answer of waiting) answer();
  return JSON.stringify({ released: waiting.length });
}

function answerCall(socket: Socket, body: string): void {
  const id = ID.exec(body)?.[1] ?? 'null';
  const call = body.replace(ID, '"id":0');
  const rest = answers.get(call);
  const answer = (text: string): void => respond(socket, `{"jsonrpc":"2.0","id":${id},${text}`);
  if (held !== null) held.push(() => void ask(call).then(answer));
  else if (rest === undefined) void ask(call).then(answer);
  else answer(rest);
}

function respond(socket: Socket, body: string): void {
  socket.write(`${HEADERS}${body.length}\r\n\r\n${body}`, 'latin1');
}

async function ask(call: string): Promise<string> {
  const response = await fetch(node.url, { method: 'POST', body: call });
  const text = await response.text();
  const rest = text.replace(/^\{"jsonrpc":"2.0","id":0,/, '');
  answers.set(call, rest);
  return rest;
}
