/** Where a story's database is: on one server, or on a cluster of Citus whose servers die in the story. */
import { type Clock, systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { ScratchCitus, ScratchDatabase, ScratchServer } from '@chainstead/testkit';

export interface SimulatedServers {
  createDatabase(): Promise<ScratchDatabase>;
  /** To compare with: of one server. */
  createFresh(): Promise<ScratchDatabase>;
  /** On a cluster, each border between partitions costs as many tables as there are shards. */
  readonly isCluster: boolean;
  /** What becomes of a database when it breaks. @param time how often it has by then */
  breakDatabase(scratch: ScratchDatabase, time: number): Promise<void>;
  /** Until nothing is half committed. */
  untilSettled(database: Database): Promise<void>;
}

/** All connections of the program break, as at a failover. */
export function oneServer(server: ScratchServer): SimulatedServers {
  const createDatabase = () => server.createDatabase();
  return {
    createDatabase,
    createFresh: createDatabase,
    isCluster: false,
    breakDatabase: breakConnections,
    untilSettled: async () => {},
  };
}

/** Ends every connection of the program to the database, as a failover does. */
export async function breakConnections({ database }: ScratchDatabase): Promise<void> {
  await database.query(
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'chainstead-test'`,
  );
}

/** Servers of the cluster die in turn, in the midst of what they do, and run again. One story at a time. */
export function clusterOf(
  { workers, coordinator, createDatabase }: ScratchCitus,
  server: ScratchServer,
  clock: Clock = systemClock,
): SimulatedServers {
  const nodes = [...workers, coordinator];
  return {
    createDatabase: () => createDatabase({ distributed: true }),
    createFresh: () => server.createDatabase(),
    isCluster: true,
    async breakDatabase({ database }, time) {
      const victim = nodes[time % nodes.length];
      await victim?.crash();
      await clock.sleep(DEAD_MS);
      await victim?.restart();
      await until(clock, () => database.query(sql`SELECT count(*) FROM erc20_transfer_sides`));
    },
    untilSettled: (database) =>
      until(clock, async () => {
        const open = await database.query(
          sql`SELECT FROM run_command_on_workers('SELECT count(*) FROM pg_prepared_xacts') WHERE result <> '0'`,
        );
        if (open.length > 0) throw new Error('Something is half committed');
      }),
  };
}

const DEAD_MS = 200;
const PATIENCE_MS = 30_000;
const POLL_MS = 100;

/** Tries again while it fails. */
async function until(clock: Clock, work: () => Promise<unknown>): Promise<void> {
  for (const deadline = clock.now() + PATIENCE_MS; ; await clock.sleep(POLL_MS))
    try {
      await work();
      return;
    } catch (error) {
      if (clock.now() > deadline) throw error;
    }
}
