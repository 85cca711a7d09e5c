import { Histogram, ReadGauge, type Registry, sharedMetric } from '@chainstead/core';
import type { Pool } from 'pg';
import type { Connections } from './client-use.ts';

/** Shows what a pool of the process holds. @param name tells the pools of a process apart: `main`, `jobs` */
export function measurePool(registry: Registry, name: string, pool: Pool): void {
  const registers = [registry];
  const connections = sharedMetric(registry, ReadGauge<'pool' | 'state'>, {
    name: 'chainstead_database_connections',
    help: 'Connections to Postgres that the process holds, by pool (main, jobs) and state: in_use, idle',
    labelNames: ['pool', 'state'],
    registers,
  });
  const most = sharedMetric(registry, ReadGauge<'pool'>, {
    name: 'chainstead_database_connections_max',
    help: 'Connections that the pool may hold (DATABASE_POOL_SIZE for main)',
    labelNames: ['pool'],
    registers,
  });
  const waiting = sharedMetric(registry, ReadGauge<'pool'>, {
    name: 'chainstead_database_waiting',
    help: 'Queries and transactions that wait for a connection of the pool',
    labelNames: ['pool'],
    registers,
  });
  connections.addSource({ pool: name, state: 'in_use' }, () => pool.totalCount - pool.idleCount);
  connections.addSource({ pool: name, state: 'idle' }, () => pool.idleCount);
  most.addSource({ pool: name }, () => pool.options.max);
  waiting.addSource({ pool: name }, () => pool.waitingCount);
}

/** As {@link measurePool}, for the pool of a database; how long each waits for a connection is measured, too. */
export function measuredConnections(registry: Registry, name: string, pool: Pool): Connections {
  measurePool(registry, name, pool);
  const waits = sharedMetric(registry, Histogram<'pool'>, {
    name: 'chainstead_database_wait_seconds',
    help: 'Time that a query or transaction waited for a connection, making a new one included',
    labelNames: ['pool'],
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: [registry],
  });
  // Looking labels up costs more than observing.
  const wait = waits.labels({ pool: name });
  return {
    async connect() {
      const startedAt = performance.now();
      try {
        return await pool.connect();
      } finally {
        wait.observe((performance.now() - startedAt) / 1_000);
      }
    },
  };
}

/** Shows whether the database is there for the process. */
export function measureOutages(registry: Registry, isAway: () => boolean): void {
  const up = sharedMetric(registry, ReadGauge<never>, {
    name: 'chainstead_database_up',
    help: '0 while the database takes nothing of the process (it is away, full or read-only), 1 otherwise',
    labelNames: [],
    registers: [registry],
  });
  up.addSource({}, () => (isAway() ? 0 : 1));
}
