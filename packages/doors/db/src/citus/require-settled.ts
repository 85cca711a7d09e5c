import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from '../database.ts';
import { DatabaseUnavailableError } from '../database-outage.ts';
import { sql } from '../sql.ts';

/** A commit is prepared on all nodes and committed milliseconds later. One that takes longer was left by a crash. */
const IN_FLIGHT_MS = 1_000;
const PAUSE_MS = 20;

/** "transaction resolution unknown". */
const IN_DOUBT = '08007';
const NODE_AWAY = '08006';

/**
 * All nodes must have every earlier commit. A crash between the two phases of a commit leaves a node's part prepared but
 * invisible until Citus resolves it (`citus.recover_2pc_interval`). Waits for commits in flight.
 * @param transaction of a coordinator that holds the lock for the rows
 * @throws {DatabaseUnavailableError} if a node is unavailable or has an unresolved transaction
 */
export async function requireSettled(transaction: Pick<Transaction, 'query'>): Promise<void> {
  const until = performance.now() + IN_FLIGHT_MS;
  let open = await readPrepared(transaction);
  while (open.size > 0) {
    const problem = 'has not settled yet what a crash left half committed';
    if (performance.now() > until)
      throw new DatabaseUnavailableError(problem, IN_DOUBT, new Error([...open].join(', ')));
    await delay(PAUSE_MS);
    // Transactions prepared meanwhile are not earlier commits.
    open = (await readPrepared(transaction)).intersection(open);
  }
}

/** The coordinator's prepared transactions on workers, by node and name. */
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

/** Citus' names begin with `citus_`; group 0 is the coordinator. */
const PREPARED = `SELECT coalesce(string_agg(gid, ' '), '') FROM pg_prepared_xacts WHERE database = current_database() AND gid LIKE 'citus\\_0\\_%'`;
