import type { LockHolder } from './lock-holders.ts';
import type { SessionClient } from './session-client.ts';

/** A session that says nothing for so long inside a transaction has nobody behind it. Milliseconds. */
const SILENCE_MS = 3_000;

/**
 * Ends sessions of Chainstead that hold locks which others wait for, while the server waits for their next word: those of a process
 * that was stopped, or of a machine that the network lost, whose connections a proxy keeps open. They would keep them until the server's
 * own timeouts, some thirty seconds. For whoever takes over from such a process; not for every day, as a slow client is not a dead one.
 * @returns those that were ended
 */
export async function cutOffSilent(client: SessionClient): Promise<readonly LockHolder[]> {
  const { rows } = await client.query<LockHolder>(CUT_OFF_SQL, [SILENCE_MS]);
  return rows;
}

// Only sessions of one's own role may be ended. `state_change` of a statement under way (COPY) is its beginning. Chosen first, whatever
// the planner thinks: as one more condition beside the others, sessions would be ended that the others exclude.
const CUT_OFF_SQL = `
  WITH silent AS MATERIALIZED (
    SELECT holder.pid, holder.usename AS role, holder.application_name AS application
      FROM (SELECT DISTINCT unnest(pg_blocking_pids(pid)) AS pid
              FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS blocking
      JOIN pg_stat_activity AS holder USING (pid)
     WHERE holder.usename = current_user AND holder.application_name LIKE 'chainstead%'
       AND holder.wait_event = 'ClientRead'
       AND holder.state_change < clock_timestamp() - $1 * interval '1 millisecond'
  )
  SELECT pid, role, application FROM silent WHERE pg_terminate_backend(pid)`;
