import { expect, test } from 'vitest';
import { parseConfiguration, ROLE_NAMES, type RoleName } from './configuration/index.ts';
import { connectionShortage, connectionsNeeded, connectionsToStandby } from './connection-demand.ts';

function needed(variables: Readonly<Record<string, string>>, roles: readonly RoleName[] = ROLE_NAMES): number {
  const source = {
    origin: 'test',
    isOwn: true,
    variables: { CHAINS: 'eth,base', DATABASE_POOL_SIZE: '10', ...variables },
  };
  return connectionsNeeded(parseConfiguration([source]).configuration, roles);
}

test('the connections that roles may open are the sum of what the documentation lists', () => {
  // The starter's 2; the pool and 3; the pool and 2 for each chain; the pool, 11, 1, and 4 for each chain.
  expect(needed({})).toBe(2 + 13 + 14 + 30);
  expect(needed({}, ['api'])).toBe(2 + 13);
  expect(needed({ REDIS_URL: 'redis://127.0.0.1' })).toBe(2 + 10 + 14 + 19);
  expect(needed({ ON_DEMAND_MAX_CALLS: '0' })).toBe(2 + 13 + 14 + 24);
  expect(needed({ DATABASE_POOL_SIZE: '20' })).toBe(needed({}) + 30);
});

test('to a standby an API opens its pool and one connection more, and none more to the primary', () => {
  expect(connectionsToStandby({ database: { poolSize: 10 } })).toBe(11);
  const standbys = { DATABASE_URL: 'postgres://one/x', DATABASE_READ_URL: 'postgres://two,three/x' };
  expect(needed(standbys)).toBe(needed({}));
});

test('only where the server has fewer left is there something to say, with both numbers and the settings', () => {
  const room = { max: 100, reserved: 3, usedByOthers: 40 };
  expect(connectionShortage(57, room)).toBeNull();
  expect(connectionShortage(58, room)).toEqual({
    facts: { connections_needed: 58, connections_left: 57, max_connections: 100, used_by_others: 40 },
    message:
      'These roles may open 58 connections to Postgres, which has 57 left of 100: raise its max_connections, or lower DATABASE_POOL_SIZE',
  });
  expect(connectionShortage(1, { ...room, usedByOthers: 200 })?.facts.connections_left).toBe(0);
});
