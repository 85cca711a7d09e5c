import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from '../database.ts';
import { DatabaseUnavailableError } from '../database-outage.ts';
import { sql } from '../sql.ts';
import { IS_CITUS, isSpread } from './table-placements.ts';

export interface HeldLock {
  /** Read here to save a statement. */
  readonly isOnCitus: boolean;
  /** Never taken before: statements pipelined behind the request did not wait for it. */
  readonly isFirst: boolean;
}

/** Until the transaction ends. A row, because any role may take advisory locks. */
export async function transactionLock(transaction: Transaction, name: string): Promise<HeldLock> {
  const held = await lockRow(transaction, name);
  if (held !== undefined) return held;
  await transaction.query(sql`INSERT INTO transaction_locks (name) VALUES (${name}) ON CONFLICT DO NOTHING`);
  const made = await lockRow(transaction, name);
  if (made === undefined) throw new TypeError(`The lock ${name} is not there`);
  return { ...made, isFirst: true };
}

async function lockRow(transaction: Transaction, name: string): Promise<HeldLock | undefined> {
  const [lock] = await transaction.query<HeldLock>(
    sql`SELECT ${IS_CITUS} AS "isOnCitus", false AS "isFirst" FROM transaction_locks WHERE name = ${name} FOR UPDATE`,
  );
  return lock;
}

/** On a cluster, all nodes have the previous writer's rows. @throws {DatabaseUnavailableError} */
export async function commitLock(transaction: Transaction, name: string): Promise<HeldLock> {
  const held = await transactionLock(transaction, name);
  if (held.isOnCitus && (await isSpread(transaction))) await requireSettled(transaction);
  return held;
}

/** Commits are prepared on all nodes, then take milliseconds. Slower ones were left by a crash. */
const IN_FLIGHT_MS = 1_000;
const PAUSE_MS = 20;

/** "transaction resolution unknown" */
const IN_DOUBT = '08007';
const NODE_AWAY = '08006';

/**
 * A crash between the phases of a commit leaves a node's part prepared but invisible until Citus
 * resolves it (`citus.recover_2pc_interval`). Waits for commits in flight.
 * @param transaction holds the lock for the rows @throws {DatabaseUnavailableError}
 */
export async function requireSettled(transaction: Pick<Transaction, 'query'>): Promise<void> {
  const until = performance.now() + IN_FLIGHT_MS;
  let open = await readPrepared(transaction);
  while (open.size > 0) {
    const problem = 'has not settled yet what a crash left half committed';
    if (performance.now() > until)
      throw new DatabaseUnavailableError(problem, IN_DOUBT, new Error([...open].join(', ')));
    await delay(PAUSE_MS);
    open = (await readPrepared(transaction)).intersection(open);
  }
}

async function readPrepared(transaction: Pick<Transaction, 'query'>): Promise<Set<string>> {
  const answers = await transaction.query<{ node: string; success: boolean; result: string }>(
    sql`SELECT nodename || ':' || nodeport AS node, success, result FROM run_command_on_workers(${PREPARED})`,
  );
  const away = answers.filter(({ success }) => !success);
  const reasons = away.map(({ node, result }) => `${node}: ${result.trim()}`).join('; ');
  if (away.length > 0)
    throw new DatabaseUnavailableError("can't reach nodes of its cluster", NODE_AWAY, new Error(reasons));
  return new Set(
    answers.flatMap(({ node, result }) => (result.match(/[^ ]+/g) ?? []).map((name) => `${name} on ${node}`)),
  );
}

const PREPARED = `SELECT coalesce(string_agg(gid, ' '), '') FROM pg_prepared_xacts WHERE database = current_database() AND gid LIKE 'citus\\_0\\_%'`;
