/** Pools at pool managers that prices leave out: untradable ones, and masses of unusual ones. */
import { createChainRegistry } from '@chainstead/chains';
import { type Address, type Hex, parseAddress } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import type { ProvenPool } from '../exchanges/prove-pool.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { leftOutOf, UNUSUAL_MAX } from './left-out-pools.ts';

const eth = createChainRegistry().get('eth');
const TOKENS = [parseAddress(`0x${'11'.repeat(20)}`), parseAddress(`0x${'22'.repeat(20)}`)] as const;
const scratch = scratchOfFile();

beforeEach(() => scratch.database.query(sql`TRUNCATE pools`));

const idOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
/** A hook with these permissions: the last bits of its address. */
const hookOf = (bits: bigint): Address =>
  parseAddress(`0x${((0xabn << 152n) | bits).toString(16).padStart(40, '0')}`);

function proven(exchange: string, given: Partial<ProvenPool> = {}): ProvenPool {
  const found = exchangesOf(eth).all.find((one) => one.exchange.name === exchange);
  if (found === undefined) throw new RangeError(`No exchange ${exchange}`);
  const facts = { tokens: TOKENS, fee: 3_000, tickSpacing: 60, isStable: null, hooks: null };
  return { ...found, pool: idOf(1), ...facts, ...given };
}

function leftOut(pool: ProvenPool) {
  return scratch.database.transaction((transaction) => leftOutOf(transaction, eth.id, pool, false));
}

test.each<[string, Partial<ProvenPool>, string | null]>([
  ['of a usual fee is considered', {}, null],
  ['of one percent is considered', { fee: 10_000, tickSpacing: 200 }, null],
  ['with a higher fee takes what a correction earns', { fee: 10_001 }, 'untradable'],
  ['with all as its fee takes it too', { fee: 1_000_000 }, 'untradable'],
  ['whose hook sets the fee may take it too', { fee: 0x80_0000 }, 'untradable'],
  ['whose hook runs before swaps may refuse them', { hooks: hookOf(1n << 7n) }, 'untradable'],
  ['whose hook runs after swaps may refuse them', { hooks: hookOf(1n << 6n) }, 'untradable'],
  ['whose hook sees liquidity only is considered', { hooks: hookOf(0b1111_0000_0000n) }, null],
])('a pool of Uniswap v4 %s', async (_, given, expected) => {
  expect(await leftOut(proven('Uniswap v4', given))).toBe(expected);
});

test('a pool that is a contract is considered, whatever its fee', async () => {
  expect(await leftOut(proven('Uniswap v3', { pool: addressOf(0x9a1), fee: 20_000 }))).toBeNull();
});

test('unusual pools of two tokens are considered up to a number, usual ones always', async () => {
  const fill = (from: number, count: number, fee: number, tokens = TOKENS) =>
    Promise.all(
      Array.from({ length: count }, (_, place) =>
        scratch.database.query(
          sql`INSERT INTO pools (pool_key, chain_id, pool, status, token0, token1, fee, tick_spacing, is_counted)
           VALUES (${poolKey(idOf(from + place))}, ${eth.id}, ${hexBytes(idOf(from + place))}, 'proven', ${hexBytes(tokens[0])}, ${hexBytes(tokens[1])},
             ${fee}, 60, true)`,
        ),
      ),
    );
  const unusual = proven('Uniswap v4', { fee: 77 });
  // Usual ones, and those of other tokens, take no place.
  await fill(1_000, 5, 3_000);
  await fill(2_000, 5, 77, [TOKENS[0], addressOf(0xffff)]);
  await fill(3_000, UNUSUAL_MAX - 1, 77);
  expect(await leftOut(unusual)).toBeNull();
  await fill(4_000, 1, 78);
  expect(await leftOut(unusual)).toBe('crowded');
  expect(await leftOut(proven('Uniswap v4'))).toBeNull();
  // A pool that is proven again keeps its place.
  expect(await leftOut({ ...unusual, pool: idOf(4_000) })).toBeNull();
});
