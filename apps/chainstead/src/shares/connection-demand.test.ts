import { expect, test } from 'vitest';
import { parseConfiguration, ROLE_NAMES, type RoleName } from '../configuration/index.ts';
import { connectionShortage, connectionsNeeded, connectionsToStandby, settingsToLower } from './connection-demand.ts';
import { slotsOf } from './role-slot.ts';

function needed(variables: Readonly<Record<string, string>>, roles: readonly RoleName[] = ROLE_NAMES): number {
  const source = {
    origin: 'test',
    isOwn: true,
    variables: { CHAINS: 'eth,base', DATABASE_POOL_SIZE: '10', ...variables },
  };
  const { configuration } = parseConfiguration([source]);
  return connectionsNeeded(configuration, slotsOf(configuration, roles, 4));
}

test('the connections that roles may open are the sum of what the documentation lists', () => {
  // The starter's 2; the pool; the pool, 2 for each chain and 2 for a job; the pool, 3, 2, and 3 for each chain.
  expect(needed({})).toBe(2 + 10 + 16 + 21);
  expect(needed({}, ['api'])).toBe(2 + 10);
  expect(needed({ REDIS_URL: 'redis://127.0.0.1' })).toBe(2 + 10 + 16 + 18);
  expect(needed({ ON_DEMAND_MAX_CALLS: '0' })).toBe(2 + 10 + 16 + 15);
  expect(needed({ DATABASE_POOL_SIZE: '20' })).toBe(needed({}) + 30);
});

test('to a standby an API opens its pool and one connection more, and none more to the primary', () => {
  expect(connectionsToStandby({ database: { poolSize: 10 } })).toBe(11);
  const standbys = { DATABASE_URL: 'postgres://one/x', DATABASE_READ_URL: 'postgres://two,three/x' };
  expect(needed(standbys)).toBe(needed({}));
});

test('each further process of a role takes a pool, and what serves all chains once more', () => {
  expect(needed({ API_PROCESSES: '3' })).toBe(needed({}) + 2 * 10);
  expect(needed({ API_PROCESSES: 'auto' })).toBe(needed({}) + 3 * 10);
  const MCP_DATABASE_URL = 'postgres://agent@one/x';
  expect(needed({ MCP_DATABASE_URL, API_PROCESSES: '3' })).toBe(needed({}) + 2 * 10 + 3 * 4);
  expect(needed({ GRAPHQL_DATABASE_URL: MCP_DATABASE_URL, API_PROCESSES: '3' })).toBe(needed({}) + 2 * 10 + 3 * 4);
  expect(needed({ WORKER_PROCESSES: '2' })).toBe(needed({}) + 21);
  // They share the chains, and each may help with one more, and have a job.
  expect(needed({ INGEST_PROCESSES: '2' })).toBe(needed({}) + 10 + 2 + 2);
});

test('only where the server has fewer left is there something to say, with both numbers and the settings', () => {
  const room = { max: 100, reserved: 3, usedByOthers: 40 };
  const lower = ['DATABASE_POOL_SIZE'];
  expect(connectionShortage(57, room, lower)).toBeNull();
  expect(connectionShortage(58, room, lower)).toEqual({
    facts: { connections_needed: 58, connections_left: 57, max_connections: 100, used_by_others: 40 },
    message:
      'These roles may open 58 connections to Postgres, which has 57 left of 100. Raise max_connections, or lower DATABASE_POOL_SIZE',
  });
  expect(connectionShortage(1, { ...room, usedByOthers: 200 }, lower)?.facts.connections_left).toBe(0);
  const slots = (of: number) =>
    Array.from({ length: of }, (_, index) => ({ role: 'api' as const, number: index + 1, of }));
  expect(settingsToLower(slots(1))).toEqual(['DATABASE_POOL_SIZE']);
  expect(connectionShortage(58, room, settingsToLower(slots(2)))?.message).toContain(
    'or lower DATABASE_POOL_SIZE or API_PROCESSES',
  );
});
