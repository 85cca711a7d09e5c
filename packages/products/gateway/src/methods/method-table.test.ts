import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findMethod, METHOD_NAMES, UNLISTED } from './method-table.ts';
import { BLOCK_NUMBER, NEWEST_BLOCK, RECEIPTS_BLOCK, STATE_BLOCK } from './parameters.ts';

const BLOCKS = new Set([BLOCK_NUMBER, NEWEST_BLOCK, RECEIPTS_BLOCK, STATE_BLOCK]);

test.each([
  ['eth_getHeaderByNumber', true],
  ['eth_simulateV1', true],
  ['eth_syncing', true],
  ['eth_signTransaction', false],
  ['eth_sendTransaction', false],
  ['eth_accounts', false],
  ['eth_submitWork', false],
  ['eth_getWork', false],
  ['eth_fillTransaction', false],
  ['eth_', false],
  [`eth_${'a'.repeat(80)}`, false],
  ['eth_get\u0000', false],
  ['admin_peers', false],
  ['txpool_content', false],
])('a method outside the list is offered only if it reads: %s, %s', (name, isOffered) => {
  expect(METHOD_NAMES).not.toContain(name);
  const found = findMethod(name);
  expect(found !== undefined).toBe(isOffered);
  if (isOffered)
    expect(found).toMatchObject({ name, countedAs: UNLISTED, lifetime: 'never', weight: 5, hedge: false });
});

// This position selects the cache entry and an upstream that has the block.
test.each(METHOD_NAMES)('the block of %s is the parameter that names one', (name) => {
  const method = findMethod(name);
  const place = method?.parameters.findIndex((parameter) => BLOCKS.has(parameter)) ?? -1;
  expect(method?.blockParameter).toBe(place < 0 ? null : place);
});

test('a call costs the units that docs/api/json-rpc.md lists', () => {
  const page = readFileSync(new URL('../../../../../docs/api/json-rpc.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (`eth_.+) \| (\d+) \|$/gm)];
  const units = new Map(
    rows.flatMap(([, calls = '', count]) =>
      [...calls.matchAll(/`(\w+)`/g)].map(([, name]) => [name, Number(count)] as const),
    ),
  );
  expect(units.size).toBeGreaterThan(10);
  const expected = METHOD_NAMES.map((name) => [
    name,
    units.get(name) ?? (findMethod(name)?.isTrace === true ? 20 : 1),
  ]);
  expect(METHOD_NAMES.map((name) => [name, findMethod(name)?.weight])).toEqual(expected);
});
