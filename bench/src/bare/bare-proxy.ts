/** The least that can pass a call on: a node:http server and one undici pool, bodies piped. No key, no look at a call. */
import { createServer } from 'node:http';
import { Pool } from 'undici';

/** The input of the program, as its one argument in JSON. */
export interface BareProxyPlan {
  readonly upstream: string;
  readonly connections: number;
}

const plan = JSON.parse(process.argv[2] ?? '{}') as BareProxyPlan;
const { origin, pathname } = new URL(plan.upstream);
const pool = new Pool(origin, { connections: plan.connections });
const HEADERS = { 'content-type': 'application/json' };

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const answer = await pool.request({
    path: pathname,
    method: 'POST',
    headers: HEADERS,
    body: Buffer.concat(chunks),
  });
  response.writeHead(answer.statusCode, HEADERS);
  answer.body.pipe(response);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`Listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
process.on('SIGTERM', () => process.exit(0));
