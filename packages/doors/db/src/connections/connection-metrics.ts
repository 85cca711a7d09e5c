import { Histogram, ReadGauge, type Registry, sharedMetric } from '@chainstead/core';
import type { Pool } from 'pg';
import type { Connections } from './client-use.ts';

export function measurePool(registry: Registry, name: string, pool: Pool): void {
  const registers = [registry];
  const connections = sharedMetric(registry, ReadGauge<'pool' | 'state'>, {
    name: 'chainstead_database_connections',
    help: 'Number of open Postgres connections of the process, by pool (main, jobs) and state (in_use, idle)',
    labelNames: ['pool', 'state'],
    registers,
  });
  const most = sharedMetric(registry, ReadGauge<'pool'>, {
    name: 'chainstead_database_connections_max',
    help: 'Maximum number of connections in the pool (DATABASE_POOL_SIZE for main)',
    labelNames: ['pool'],
    registers,
  });
  const waiting = sharedMetric(registry, ReadGauge<'pool'>, {
    name: 'chainstead_database_waiting',
    help: 'Number of queries and transactions waiting for a connection from the pool',
    labelNames: ['pool'],
    registers,
  });
  connections.addSource({ pool: name, state: 'in_use' }, () => pool.totalCount - pool.idleCount);
  connections.addSource({ pool: name, state: 'idle' }, () => pool.idleCount);
  most.addSource({ pool: name }, () => pool.options.max);
  waiting.addSource({ pool: name }, () => pool.waitingCount);
}

export function measuredConnections(registry: Registry, name: string, pool: Pool): Connections {
  measurePool(registry, name, pool);
  const waits = sharedMetric(registry, Histogram<'pool'>, {
    name: 'chainstead_database_wait_seconds',
    help: 'Time from requesting a pool connection to receiving it, including the time to open a new one',
    labelNames: ['pool'],
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: [registry],
  });
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

export function measureOutages(registry: Registry, isAway: () => boolean): void {
  const up = sharedMetric(registry, ReadGauge<never>, {
    name: 'chainstead_database_up',
    help: '0 if the database is unavailable to the process (unreachable, full or read-only), otherwise 1',
    labelNames: [],
    registers: [registry],
  });
  up.addSource({}, () => (isAway() ? 0 : 1));
}
