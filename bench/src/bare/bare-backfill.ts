/**
 * A script of an hour's work: reads ranges of a fixed size, four at once, slices topics, copies into the
 * production tables. Nothing is checked, retried, resumed or counted. With `receipts` it reads eth_getBlockReceipts instead.
 */
import { Pool } from 'pg';
import { copyRows, createPlace, linesOf, type RawLog, TRANSFER_TOPIC } from './copy-rows.ts';

/** The input of the script, as its one argument in JSON. */
export interface BareBackfillPlan {
  readonly databaseUrl: string;
  readonly rpcUrls: readonly string[];
  readonly chainId: number;
  readonly from: number;
  readonly to: number;
  readonly mode: 'logs' | 'receipts';
  readonly rangeBlocks: number;
}

const RANGES_IN_FLIGHT = 4;
/** Blocks of one JSON-RPC batch of receipts. */
const BLOCKS_PER_BATCH = 10;

const plan = JSON.parse(process.argv[2] ?? '{}') as BareBackfillPlan;
const pool = new Pool({ connectionString: plan.databaseUrl, max: RANGES_IN_FLIGHT });
let next = plan.from;
const first = await pool.connect();
await createPlace(first, plan.chainId);
first.release();
await Promise.all(Array.from({ length: RANGES_IN_FLIGHT }, (_, worker) => work(worker)));
await pool.end();

async function work(worker: number): Promise<void> {
  const url = plan.rpcUrls[worker % plan.rpcUrls.length] ?? '';
  const client = await pool.connect();
  for (;;) {
    const from = next;
    if (from > plan.to) break;
    const to = Math.min(from + plan.rangeBlocks - 1, plan.to);
    next = to + 1;
    const logs = plan.mode === 'logs' ? await readLogs(url, from, to) : await readReceipts(url, from, to);
    await copyRows(client, linesOf(plan.chainId, logs));
  }
  client.release();
}

async function readLogs(url: string, from: number, to: number): Promise<RawLog[]> {
  const filter = { fromBlock: hex(from), toBlock: hex(to), topics: [TRANSFER_TOPIC] };
  const answer = (await post(url, { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] })) as {
    result: RawLog[];
  };
  return answer.result;
}

async function readReceipts(url: string, from: number, to: number): Promise<RawLog[]> {
  const logs: RawLog[] = [];
  for (let first = from; first <= to; first += BLOCKS_PER_BATCH) {
    const count = Math.min(BLOCKS_PER_BATCH, to - first + 1);
    const calls = Array.from({ length: count }, (_, index) => ({
      jsonrpc: '2.0',
      id: index,
      method: 'eth_getBlockReceipts',
      params: [hex(first + index)],
    }));
    const answers = (await post(url, calls)) as { result: { logs: RawLog[] }[] }[];
    for (const { result } of answers) for (const receipt of result) logs.push(...receipt.logs);
  }
  return logs;
}

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

function hex(block: number): string {
  return `0x${block.toString(16)}`;
}
