/**
 * A script of an hour's work: reads blocks with their transactions and receipts, several at once, and copies rows into the production tables.
 * Nothing is checked, proven, retried, resumed or counted.
 */
import { Pool, type PoolClient } from 'pg';
import { copyLines } from './copy-rows.ts';

/** The input of the script, as its one argument in JSON. */
export interface BareTransactionsPlan {
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly from: number;
  readonly to: number;
}

const READERS = 4;
/** Blocks of one JSON-RPC batch, with two calls each. */
const BLOCKS_PER_BATCH = 10;
const BATCHES_PER_COMMIT = 5;

type Json = Readonly<Record<string, string>>;
interface Block extends Json {
  readonly transactions: never;
}

const TRANSACTION_COLUMNS =
  'transaction_key, chain_id, nonce, gas, gas_used, cumulative_gas_used, block_number, transaction_index, type, status, sender_recovered, transaction_hash, from_address, to_address, value, gas_price, selector, input';
const ACCOUNT_COLUMNS =
  'account_key, chain_id, transaction_key, block_number, transaction_index, evidence, roles, account';
const BLOCK_COLUMNS = 'chain_id, block_number, block_hash, parent_hash, block_timestamp';

const plan = JSON.parse(process.argv[2] ?? '{}') as BareTransactionsPlan;
const pool = new Pool({ connectionString: plan.databaseUrl, max: READERS });
let next = plan.from;
const first = await pool.connect();
for (const table of ['transactions', 'account_transactions'])
  await first.query(
    `CREATE TABLE ${table}_bare PARTITION OF ${table} FOR VALUES FROM (${plan.chainId}, MINVALUE) TO (${plan.chainId}, MAXVALUE)`,
  );
first.release();
await Promise.all(Array.from({ length: READERS }, work));
await pool.end();

async function work(): Promise<void> {
  const client = await pool.connect();
  for (;;) {
    const from = next;
    if (from > plan.to) break;
    const to = Math.min(from + BLOCKS_PER_BATCH * BATCHES_PER_COMMIT - 1, plan.to);
    next = to + 1;
    const lines = { blocks: [] as string[], transactions: [] as string[], accounts: [] as string[] };
    const starts = Array.from(
      { length: Math.ceil((to - from + 1) / BLOCKS_PER_BATCH) },
      (_, at) => from + at * BLOCKS_PER_BATCH,
    );
    await Promise.all(starts.map((start) => readBatch(start, Math.min(start + BLOCKS_PER_BATCH - 1, to), lines)));
    await copyAll(client, lines);
  }
  client.release();
}

async function readBatch(from: number, to: number, lines: Lines): Promise<void> {
  const calls = Array.from({ length: to - from + 1 }, (_, at) => `0x${(from + at).toString(16)}`).flatMap(
    (block) => [
      { jsonrpc: '2.0', id: `b${block}`, method: 'eth_getBlockByNumber', params: [block, true] },
      { jsonrpc: '2.0', id: `r${block}`, method: 'eth_getBlockReceipts', params: [block] },
    ],
  );
  const response = await fetch(plan.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls),
  });
  const answers = (await response.json()) as { readonly id: string; readonly result: unknown }[];
  const byId = new Map(answers.map(({ id, result }) => [id, result]));
  for (const { id } of calls)
    if (id.startsWith('b')) addLines(byId.get(id) as Block, byId.get(`r${id.slice(1)}`) as Json[], lines);
}

interface Lines {
  readonly blocks: string[];
  readonly transactions: string[];
  readonly accounts: string[];
}

function addLines(block: Block, receipts: readonly Json[], { blocks, transactions, accounts }: Lines): void {
  const { chainId } = plan;
  const number = Number(block.number);
  const time = new Date(Number(block.timestamp) * 1_000).toISOString();
  blocks.push(`${chainId}\t${number}\t${bytes(block.hash)}\t${bytes(block.parentHash)}\t${time}`);
  for (const [index, one] of (block.transactions as readonly Json[]).entries()) {
    const receipt = receipts[index] ?? {};
    const { hash = '', from = '', to = '', input = '' } = one;
    const key = BigInt.asIntN(64, BigInt(hash.slice(0, 18)));
    const numbers = `${key}\t${chainId}\t${Number(one.nonce)}\t${Number(one.gas)}\t${Number(receipt.gasUsed)}\t${Number(receipt.cumulativeGasUsed)}`;
    const place = `${number}\t${index}\t${Number(one.type)}\t${Number(receipt.status)}\tf`;
    const paid = `${BigInt(one.value ?? 0)}\t${BigInt(receipt.effectiveGasPrice ?? 0)}`;
    transactions.push(
      `${numbers}\t${place}\t${bytes(hash)}\t${bytes(from)}\t${bytes(to)}\t${paid}\t${bytes(input.slice(0, 10))}\t${bytes(input)}`,
    );
    for (const [account, role] of [
      [from, 1],
      [to, 2],
    ] as const)
      accounts.push(`${keyOf(account)}\t${chainId}\t${key}\t${number}\t${index}\t0\t${role}\t${bytes(account)}`);
  }
}

async function copyAll(client: PoolClient, { blocks, transactions, accounts }: Lines): Promise<void> {
  await client.query('BEGIN');
  await copyLines(client, `COPY blocks (${BLOCK_COLUMNS}) FROM STDIN`, blocks);
  await copyLines(client, `COPY transactions (${TRANSACTION_COLUMNS}) FROM STDIN`, transactions.sort());
  await copyLines(client, `COPY account_transactions (${ACCOUNT_COLUMNS}) FROM STDIN`, accounts.sort());
  await client.query('COMMIT');
}

function keyOf(account: string): bigint {
  return BigInt.asIntN(64, BigInt(account.slice(0, 10) + account.slice(34)));
}

function bytes(hex: string | undefined): string {
  return `\\\\${(hex ?? '0x').slice(1)}`;
}
