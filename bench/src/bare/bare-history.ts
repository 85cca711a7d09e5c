/** Reads the Transfer logs of a range from a Portal in one stream, and copies their rows. Nothing is checked or resumed. */
import { Pool } from 'pg';
import { copyRows, createPlace, linesOf, type RawLog, TRANSFER_TOPIC } from './copy-rows.ts';

/** The input of the script, as its one argument in JSON. */
export interface BareHistoryPlan {
  readonly databaseUrl: string;
  readonly portal: string;
  readonly chainId: number;
  readonly from: number;
  readonly to: number;
}

interface Line {
  readonly header: { readonly number: number; readonly hash: string; readonly timestamp: number };
  readonly logs?: readonly RawLog[];
}

const COPIES_IN_FLIGHT = 2;
const LOGS_PER_COPY = 6_000;

const plan = JSON.parse(process.argv[2] ?? '{}') as BareHistoryPlan;
const pool = new Pool({ connectionString: plan.databaseUrl, max: COPIES_IN_FLIGHT });
const first = await pool.connect();
await createPlace(first, plan.chainId);
first.release();
const copies = new Set<Promise<void>>();
let logs: RawLog[] = [];
for await (const { header, logs: rows = [] } of readLines()) {
  const place = { blockNumber: String(header.number), blockHash: header.hash };
  for (const row of rows) logs.push({ ...row, ...place, blockTimestamp: String(header.timestamp) });
  if (logs.length < LOGS_PER_COPY) continue;
  const copied = copy(logs);
  logs = [];
  copies.add(copied);
  void copied.then(() => copies.delete(copied));
  if (copies.size >= COPIES_IN_FLIGHT) await Promise.race(copies);
}
await Promise.all([...copies, copy(logs)]);
await pool.end();

async function* readLines(): AsyncGenerator<Line> {
  const names = (...list: string[]) => Object.fromEntries(list.map((name) => [name, true]));
  const fields = {
    block: names('number', 'hash', 'timestamp'),
    log: names('logIndex', 'transactionIndex', 'transactionHash', 'address', 'data', 'topics'),
  };
  const range = { fromBlock: plan.from, toBlock: plan.to };
  const query = { type: 'evm', ...range, fields, logs: [{ topic0: [TRANSFER_TOPIC] }] };
  const response = await fetch(`${plan.portal}/finalized-stream`, {
    method: 'POST',
    body: JSON.stringify(query),
  });
  let rest = '';
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}

async function copy(batch: readonly RawLog[]): Promise<void> {
  const client = await pool.connect();
  await copyRows(client, linesOf(plan.chainId, batch));
  client.release();
}
