import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from '../database.ts';
import { DatabaseUnavailableError } from '../database-outage.ts';
import { sql } from '../sql.ts';

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
