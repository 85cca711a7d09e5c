/** A node, a Portal and era files of one chain, in one process. A run reads blocks from one of them. Responses are made beforehand. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type BenchNodeOptions,
  createBenchChain,
  PORTAL_FIELDS,
  portalBlock,
  selected,
  serveBenchChain,
  writeEraFolder,
} from '@chainstead/testkit';
import { TRANSFER_TOPIC } from './bare/copy-rows.ts';

/** The input of the program, as its one argument in JSON. */
export interface HistoryUpstreamPlan extends BenchNodeOptions {
  /** Responses with whole blocks take about 100 kB of memory per block. */
  readonly isWhole: boolean;
  /** Limit of the node behind `limited`; each call of a batch counts. */
  readonly callsPerSecond: number;
}

export interface HistoryUpstream {
  /** URL of the node. */
  readonly url: string;
  /** URL of the same node with a limit of {@link HistoryUpstreamPlan.callsPerSecond}. */
  readonly limited: string;
  /** URL of the Portal's dataset. */
  readonly portal: string;
  /** Folder of era files; null: only whole blocks have some. */
  readonly era: string | null;
}

interface Query {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly includeAllBlocks?: boolean;
  readonly fields: Readonly<Record<string, object>>;
  readonly logs?: readonly { readonly topic0?: readonly string[] }[];
}

const DATASET = '/datasets/bench';
const LIMITED = '/limited';
const PIECE_BYTES = 256 * 1024;
const LOG_HEADER = ['number', 'hash', 'parentHash', 'timestamp'];
const NEWLINE = '\n';

const plan = JSON.parse(process.argv[2] ?? '{}') as HistoryUpstreamPlan;
const chain = createBenchChain(plan);
const node = await serveBenchChain(chain, plan);
const finalized = chain.finalized ?? 0;
const fields = Object.fromEntries(Object.entries(PORTAL_FIELDS).map(([table, names]) => [table, [...names]]));
const whole: Buffer[] = [];
/** A line is needed for a block without logs if it ends a range. */
const transfers: { readonly line: Buffer; readonly isEmpty: boolean }[] = [];
for (const block of chain.blocksIn({ from: 0, to: finalized })) {
  const { header, transactions, logs } = portalBlock(block);
  const rows = logs.map((log) => selected(log, fields.log ?? []));
  if (plan.isWhole)
    whole.push(
      lineOf({
        header: selected(header, fields.block ?? []),
        ...(transactions.length > 0 && {
          transactions: transactions.map((row) => selected(withoutPrice(row), fields.transaction ?? [])),
        }),
        ...(rows.length > 0 && { logs: rows }),
      }),
    );
  const wanted = rows.filter(({ topics }) => (topics as readonly string[])[0] === TRANSFER_TOPIC);
  const line = { header: selected(header, LOG_HEADER), ...(wanted.length > 0 && { logs: wanted }) };
  transfers.push({ line: lineOf(line), isEmpty: wanted.length === 0 });
}

const folder = plan.isWhole ? mkdtempSync(join(tmpdir(), 'bench-era-')) : null;
if (folder !== null)
  await writeEraFolder({ folder, network: 'mainnet', blocks: chain.blocksIn({ from: 0, to: finalized }) });

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : '';
  const base = `http://127.0.0.1:${port}`;
  const upstream: HistoryUpstream = {
    ...{ url: node.url, limited: `${base}${LIMITED}`, portal: `${base}${DATASET}`, era: folder },
  };
  console.log(JSON.stringify(upstream));
});
process.on('SIGTERM', () => {
  if (folder !== null) rmSync(folder, { recursive: true });
  process.exit(0);
});

let room = plan.callsPerSecond;
let filledAt = performance.now();

/** Refuses as providers do: with status 429, whole batches. */
async function forwardLimited(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  const json: unknown = JSON.parse(body);
  const calls = Array.isArray(json) ? json.length : 1;
  const now = performance.now();
  room = Math.min(plan.callsPerSecond, room + ((now - filledAt) / 1_000) * plan.callsPerSecond);
  filledAt = now;
  if (calls > room) {
    response.writeHead(429, { 'retry-after': '1' }).end();
    return;
  }
  room -= calls;
  const forwarded = await fetch(node.url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  response.writeHead(forwarded.status, { 'content-type': 'application/json' });
  response.end(Buffer.from(await forwarded.arrayBuffer()));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const part of request.setEncoding('latin1')) body += part;
  return body;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === LIMITED) return forwardLimited(request, response);
  const path = request.url?.slice(DATASET.length);
  if (path === '/finalized-head')
    return sendJson(response, { number: finalized, hash: chain.blockAt(finalized)?.hash });
  if (path === '/metadata') return sendJson(response, { dataset: 'bench', real_time: true, start_block: 0 });
  const query = JSON.parse(await bodyOf(request)) as Query;
  const unknown = Object.entries(query.fields)
    .flatMap(([table, chosen]) => Object.keys(chosen).map((name) => ({ table, name })))
    .find(({ table, name }) => PORTAL_FIELDS[table]?.has(name) !== true);
  if (unknown !== undefined) return refuse(response, `unknown field \`${unknown.name}\``);
  const isWhole = query.includeAllBlocks === true;
  if (!isWhole && query.logs?.some(({ topic0 }) => topic0?.join() !== TRANSFER_TOPIC) !== false)
    return refuse(response, 'only Transfer logs are made beforehand');
  if (isWhole && !plan.isWhole) return refuse(response, 'no whole blocks are made beforehand');
  const to = Math.min(query.toBlock, finalized);
  if (query.fromBlock > to) {
    response.writeHead(204).end();
    return;
  }
  response.writeHead(200, { 'x-sqd-finalized-head-number': String(finalized) });
  const lines = isWhole ? whole.slice(query.fromBlock, to + 1) : transferLines(query.fromBlock, to);
  await pipeline(Readable.from(piecesOf(lines), { objectMode: false }), response);
}

function* transferLines(from: number, to: number): Generator<Buffer> {
  for (let number = from; number <= to; number++) {
    const made = transfers[number];
    if (made !== undefined && (!made.isEmpty || number === from || number === to)) yield made.line;
  }
}

function* piecesOf(lines: Iterable<Buffer>): Generator<Buffer> {
  let piece: Buffer[] = [];
  let bytes = 0;
  for (const line of lines) {
    piece.push(line);
    bytes += line.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(piece);
    piece = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(piece);
}

/** Prices on the bench chain do not follow from fees: the reader derives them. */
function withoutPrice(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { ...row, effectiveGasPrice: null };
}

function lineOf(row: object): Buffer {
  return Buffer.from(`${JSON.stringify(row)}${NEWLINE}`, 'latin1');
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(400, { 'content-type': 'text/plain' }).end(message);
}
