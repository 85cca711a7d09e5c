import { defineMetrics, gauge, histogram, type Registry } from '@chainstead/core';
import type { Pool } from 'pg';
import type { Connections } from './client-use.ts';

export const createConnectionMetrics = defineMetrics('chainstead_database', {
  connections: gauge(
    'Number of open Postgres connections of the process, by pool (main, jobs) and state (in_use, idle)',
    ['pool', 'state'],
  ),
  connectionsMax: gauge('Maximum number of connections in the pool', ['pool']),
  waiting: gauge('Number of queries and transactions waiting for a connection from the pool', ['pool']),
});

export function measurePool(registry: Registry, name: string, pool: Pool): void {
  const { connections, connectionsMax, waiting } = createConnectionMetrics(registry);
  connections.addSource({ pool: name, state: 'in_use' }, () => pool.totalCount - pool.idleCount);
  connections.addSource({ pool: name, state: 'idle' }, () => pool.idleCount);
  connectionsMax.addSource({ pool: name }, () => pool.options.max);
  waiting.addSource({ pool: name }, () => pool.waitingCount);
}

export const createDatabaseMetrics = defineMetrics('chainstead_database', {
  waitSeconds: histogram(
    'Time from requesting a pool connection to receiving it, including the time to open a new one',
    [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    ['pool'],
  ),
  up: gauge('0 if the database is unavailable to the process (unreachable, full or read-only), otherwise 1'),
});

export function measuredConnections(registry: Registry, name: string, pool: Pool): Connections {
  measurePool(registry, name, pool);
  const wait = createDatabaseMetrics(registry).waitSeconds.labels({ pool: name });
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
  createDatabaseMetrics(registry).up.addSource({}, () => (isAway() ? 0 : 1));
}
