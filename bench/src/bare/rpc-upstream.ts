/**
 * A JSON-RPC node that costs little: the first response to a call comes from the benchmark's chain, all later ones from memory.
 * `POST /hold` keeps responses back, `POST /release` sends them.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createBenchChain, serveBenchChain } from '@chainstead/testkit';

/** The input of the program, as its one argument in JSON. */
export interface RpcUpstreamPlan {
  readonly chainId: number;
  readonly blocks: number;
}

const ID = /"id": ?(\d+|"[^"]*")/;

const plan = JSON.parse(process.argv[2] ?? '{}') as RpcUpstreamPlan;
const node = await serveBenchChain(createBenchChain(plan));
/** The part of a response after the ID, by the call without its ID. */
const answers = new Map<string, string>();
let held: (() => void)[] | null = null;

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('latin1');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => serve(request, response, body));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`Listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
process.on('SIGTERM', () => process.exit(0));

function serve({ url }: IncomingMessage, response: ServerResponse, body: string): void {
  if (url === '/hold') respond(response, hold());
  else if (url === '/release') respond(response, release());
  else answerCall(response, body);
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

function answerCall(response: ServerResponse, body: string): void {
  const id = ID.exec(body)?.[1] ?? 'null';
  const call = body.replace(ID, '"id":0');
  const rest = answers.get(call);
  const answer = (text: string): void => respond(response, `{"jsonrpc":"2.0","id":${id},${text}`);
  if (held !== null) held.push(() => void ask(call).then(answer));
  else if (rest === undefined) void ask(call).then(answer);
  else answer(rest);
}

function respond(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body, 'latin1');
}

async function ask(call: string): Promise<string> {
  const response = await fetch(node.url, { method: 'POST', body: call });
  const text = await response.text();
  const rest = text.replace(/^\{"jsonrpc":"2.0","id":0,/, '');
  answers.set(call, rest);
  return rest;
}
