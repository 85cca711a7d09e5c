import { expect, test } from 'vitest';
import { parse } from '../testing/configuration-problems.ts';
import { connectionShortage, connectionsNeeded, connectionsToStandby, poolSizeOf, slotsOf } from './role-slot.ts';

function needed(variables: Readonly<Record<string, string>>): number {
  const { configuration } = parse({ CHAINS: 'eth,base', ...variables });
  return connectionsNeeded(configuration, slotsOf(configuration, configuration.roles, 4));
}

test('the connections that roles may open are the sum of what the documentation lists', () => {
  // The starter's 2; the pool; the pool, 2 for each chain and 2 for a job; the pool, 3, 2, and 3 for each chain.
  expect(needed({})).toBe(2 + 10 + 16 + 21);
  expect(needed({ ROLES: 'api' })).toBe(2 + 10);
  expect(needed({ REDIS_URL: 'redis://127.0.0.1' })).toBe(2 + 10 + 16 + 18);
  expect(needed({ ON_DEMAND_MAX_CALLS: '0' })).toBe(2 + 10 + 16 + 15);
});

test('to a standby an API opens its pool and one connection more, and none more to the primary', () => {
  expect(connectionsToStandby({ number: 1, of: 1 })).toBe(11);
  expect(connectionsToStandby({ number: 1, of: 8 })).toBe(8 * 6);
  const standbys = { DATABASE_URL: 'postgres://one/x', DATABASE_READ_URL: 'postgres://two,three/x' };
  expect(needed(standbys)).toBe(needed({}));
});

test('each further process of a role takes a pool, and what serves all chains once more', () => {
  expect(needed({ ROLES: 'api:3,ingest,worker' })).toBe(needed({}) + 2 * 10);
  expect(needed({ ROLES: 'api:auto,ingest,worker' })).toBe(needed({}) + 3 * 10);
  expect(needed({ MCP_SQL: 'true', ROLES: 'api:3,ingest,worker' })).toBe(needed({}) + 2 * 10 + 3 * 4);
  expect(needed({ GRAPHQL: 'true', ROLES: 'api:3,ingest,worker' })).toBe(needed({}) + 2 * 10 + 3 * 5);
  expect(needed({ ROLES: 'api,ingest,worker:2' })).toBe(needed({}) + 21);
  // They share the chains, and each may help with one more, and have a job.
  expect(needed({ ROLES: 'api,ingest:2,worker' })).toBe(needed({}) + 10 + 2 + 2);
});

test('many processes of a role share its connections', () => {
  expect([1, 4, 5, 8, 10, 64].map((of) => poolSizeOf({ number: 1, of }))).toEqual([10, 10, 8, 5, 4, 4]);
});

test('only where the server has fewer left is there something to say, with both numbers and the settings', () => {
  const room = { max: 100, reserved: 3, usedByOthers: 40 };
  expect(connectionShortage(57, room)).toBeNull();
  expect(connectionShortage(58, room)).toEqual({
    facts: { connections_needed: 58, connections_left: 57, max_connections: 100, used_by_others: 40 },
    message:
      'These roles may open 58 connections to Postgres, which has 57 left of 100. Raise max_connections, or run fewer processes (ROLES)',
  });
  expect(connectionShortage(1, { ...room, usedByOthers: 200 })?.facts.connections_left).toBe(0);
});
