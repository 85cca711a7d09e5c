import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from '../database.ts';
import { DatabaseUnavailableError } from '../database-outage.ts';

/** A commit is prepared on all nodes and then committed on each, a few milliseconds later. What takes longer was left by a crash. */
const IN_FLIGHT_MS = 1_000;
const PAUSE_MS = 20;

/** SQLSTATE "transaction resolution unknown". */
const IN_DOUBT = '08007';
const NODE_AWAY = '08006';

/**
 * Makes sure that all nodes of the cluster have what was committed before. A crash between the two phases of a commit leaves a node's part of it
 * prepared, seen by nobody, until Citus settles it (`citus.recover_2pc_interval`): whoever removed blocks or added sums up meanwhile would
 * miss its rows. Waits for commits in flight.
 * @param transaction of a coordinator; holds the lock that its rows are written under
 * @throws {DatabaseUnavailableError} a node is away, or has something in doubt
 */
export async function requireSettled(transaction: Pick<Transaction, 'query'>): Promise<void> {
  const until = performance.now() + IN_FLIGHT_MS;
  let open = await readPrepared(transaction);
  while (open.size > 0) {
    if (performance.now() > until)
      throw new DatabaseUnavailableError(
        'has not settled yet what a crash left half committed',
        IN_DOUBT,
        new Error([...open].join(', ')),
      );
    await delay(PAUSE_MS);
    // What others prepare meanwhile is none of what was committed before.
    open = (await readPrepared(transaction)).intersection(open);
  }
}

/** What the coordinator has prepared on workers: the place and name of each. */
async function readPrepared(transaction: Pick<Transaction, 'query'>): Promise<Set<string>> {
  const answers = await transaction.query<{ node: string; success: boolean; result: string }>(
    `SELECT nodename || ':' || nodeport AS node, success, result FROM run_command_on_workers($1)`,
    [PREPARED],
  );
  const away = answers.filter(({ success }) => !success);
  if (away.length > 0)
    throw new DatabaseUnavailableError(
      "can't reach nodes of its cluster",
      NODE_AWAY,
      new Error(away.map(({ node, result }) => `${node}: ${result.trim()}`).join('; ')),
    );
  return new Set(
    answers.flatMap(({ node, result }) =>
      result
        .split(' ')
        .filter((name) => name !== '')
        .map((name) => `${name} on ${node}`),
    ),
  );
}

/** Citus' names begin with its own; group 0 is the coordinator. */
const PREPARED = `SELECT coalesce(string_agg(gid, ' '), '') FROM pg_prepared_xacts WHERE database = current_database() AND gid LIKE 'citus\\_0\\_%'`;
