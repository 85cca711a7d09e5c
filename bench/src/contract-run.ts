import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '@chainstead/core';
import { type Database, rawSql, type Sql, sql, statementOf } from '@chainstead/db';
import type { BenchNode, ScratchServer } from '@chainstead/testkit';
import { API_KEY, addressOf } from './api-servers.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { ERC20_ONLY, startChainstead } from './chainstead-program.ts';

/** A contract of the operator whose `Transfer` is indexed. */
export interface BenchContract {
  readonly address: Address;
  /** Declaration of the event with which the address names children, which emit `Transfer`; null: the address does. */
  readonly creation: string | null;
}

/** The table that all runs fill. */
export const CONTRACT_TABLE = 'contracts.token_transfer';
/** The ABI as a user would give it. */
export const CONTRACT_ABI = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
] as const;

/** Rows of a table, so that equal tables have equal contents. */
export interface TableContents {
  readonly rows: number;
  /** Sum of all values. */
  readonly sum: string;
  /** Hash over all rows. */
  readonly hash: string;
}

export interface ContractRun extends TableContents {
  /** From the start of the command to the first row. */
  readonly firstRowSeconds: number;
  /** From the start of the command until all blocks are covered. */
  readonly seconds: number;
  readonly peakMemoryBytes: number;
}

const LOOK_EVERY_MS = 20;
const PATIENCE_MS = 600_000;

/** `chainstead contracts add` to a program that runs and follows the chain. */
export async function runContract(plan: {
  readonly server: Pick<ScratchServer, 'createDatabase'>;
  readonly node: BenchNode;
  readonly blocks: number;
  readonly contract: BenchContract;
}): Promise<ContractRun> {
  const { server, node, blocks, contract } = plan;
  const { url: databaseUrl, database, drop } = await server.createDatabase();
  const rpcUrls = [node.url];
  const env = { ...ERC20_ONLY, PORT: '0', API_KEYS: API_KEY };
  const program = startChainstead(['start'], { databaseUrl, rpcUrls, env });
  try {
    await addressOf(program);
    await until(database, sql`SELECT EXISTS (SELECT FROM sync_chains WHERE checkpoint IS NOT NULL) AS done`);
    await database.query(sql`CHECKPOINT`);
    const startedAt = performance.now();
    const added = addContract({ databaseUrl, rpcUrls }, contract);
    await until(database, sql`SELECT to_regclass(${CONTRACT_TABLE}) IS NOT NULL AS done`);
    await until(database, sql`SELECT EXISTS (SELECT FROM ${rawSql(CONTRACT_TABLE)}) AS done`);
    const firstRowSeconds = (performance.now() - startedAt) / 1_000;
    await until(database, isCovered(blocks));
    const seconds = (performance.now() - startedAt) / 1_000;
    await added;
    const contents = await readContents(database, ownRows(blocks));
    const peakMemoryBytes = Math.max(0, ...program.memory.map((sample) => sample.bytes));
    return { firstRowSeconds, seconds, peakMemoryBytes, ...contents };
  } finally {
    await program.stop();
    await drop();
  }
}

/** Runs the one command that a user types. */
export async function addContract(
  place: { readonly databaseUrl: string; readonly rpcUrls: readonly string[] },
  { address, creation }: BenchContract,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-bench-'));
  try {
    const abi = join(folder, 'Token.json');
    await writeFile(abi, JSON.stringify(CONTRACT_ABI));
    const emitters =
      creation === null
        ? ['--address', address]
        : ['--factory', address, '--event', creation, '--child', 'child'];
    const args = ['contracts', 'add', 'token', '--chain', 'eth', '--abi', abi, ...emitters, '--from', '1'];
    await startChainstead(args, place).finished();
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the rows up to a block. */
function ownRows(blocks: number): Sql {
  return sql`SELECT block_number, log_index, extract(epoch FROM block_time)::bigint AS time, transaction_hash, transaction_index, contract,
  from_ AS sender, to_ AS receiver, value FROM analytics.contract_token_transfer WHERE block_number <= ${blocks}`;
}

/** Summarizes rows, whose columns are those of {@link ownRows}. */
export function readContents(database: Database, rows: Sql): Promise<TableContents> {
  return summarize(database, rows, ['block_number', 'log_index']);
}

/** @param rows a SELECT with a column `value`; the text of all its columns counts @param order columns that are unique together */
export async function summarize(
  database: Database,
  rows: Sql,
  order: readonly [string, string],
): Promise<TableContents> {
  const [contents] = await database.query<TableContents>(
    sql`SELECT count(*)::int AS rows, coalesce(sum(value), 0)::text AS sum,
       md5(coalesce(string_agg(rows::text, ',' ORDER BY ${rawSql(order.join(', '))}), '')) AS hash FROM (${rows}) AS rows`,
  );
  if (contents === undefined || contents.rows === 0) throw new BenchmarkError('A side wrote no rows');
  return contents;
}

function isCovered(blocks: number): Sql {
  return sql`SELECT range_agg(int8range(first_block, last_block, '[]')) @> int8range(1, ${blocks}::bigint, '[]') AS done
  FROM sync_ranges WHERE dataset = ${CONTRACT_TABLE}`;
}

/** Waits until a statement returns true as `done`. @throws BenchmarkError if it takes too long */
async function until(database: Database, statement: Sql): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const [row] = await database.query<{ done: boolean | null }>(statement);
    if (row?.done === true) return;
    await sleep(LOOK_EVERY_MS);
  }
  throw new BenchmarkError(
    `Nothing came of this within ${PATIENCE_MS / 1_000} s: ${statementOf(statement).text}`,
  );
}
