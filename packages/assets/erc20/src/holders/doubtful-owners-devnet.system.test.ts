/** Owners of a token with lying, refusing or hanging nodes, or with unindexed early blocks, over a real node. */
import { silentLogger, systemClock } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { openPool } from '@chainstead/node-reads/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readOwners } from './count-holders.ts';
import { ALICE, BOB, CAROL, type GoldStage, openGoldStage } from './testing/gold-stage.ts';

let stage: GoldStage;

beforeAll(async () => {
  // Less than the maximum duration of a request.
  stage = await openGoldStage({ waitMs: 5_000 });
});
afterAll(() => stage?.close());

test('a balance that one of two nodes invents is not believed', async () => {
  const { gold, node, devnet, chain, scratch } = stage;
  const { database } = scratch;
  await stage.ownersOf(gold.address);
  await database.query(
    sql`UPDATE erc20_holders SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL`,
  );
  node.alter = ({ method }) => (method === 'eth_call' ? { result: `0x${'1'.padStart(64, '0')}` } : undefined);
  const pool = await openPool(chain, node.url, devnet.url);
  try {
    const context = { chain, pool, database, clock: systemClock, logger: silentLogger() };
    for (let turn = 0; turn < 4; turn++)
      await readOwners(context, gold.address, [ALICE, BOB], AbortSignal.timeout(10_000));
  } finally {
    node.alter = () => undefined;
    await pool.close();
  }
  const rows = await database.query(
    sql`SELECT anchor_value::int AS value FROM erc20_holders WHERE anchor_value IS NOT NULL ORDER BY 1`,
  );
  expect(rows).toEqual([{ value: 500_000 }, { value: 700_000 }]);
  expect((await stage.ownersOf(gold.address)).indexed.complete).toBe(true);
});

test('a contract that refuses to tell one balance is still believed about others', async () => {
  const { gold, node, chain, pool, scratch } = stage;
  const { database } = scratch;
  await database.query(
    sql`UPDATE erc20_holders SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL`,
  );
  node.alter = ({ method, params }) =>
    method === 'eth_call' && JSON.stringify(params).includes(ALICE.slice(2))
      ? { error: { code: 3, message: 'execution reverted' } }
      : undefined;
  const context = { chain, pool, database, clock: systemClock, logger: silentLogger() };
  try {
    await readOwners(context, gold.address, [ALICE], AbortSignal.timeout(10_000));
  } finally {
    node.alter = () => undefined;
  }
  const classes = await database.query<{ class: string }>(
    sql`SELECT class FROM erc20_token_classes WHERE token = ${addressBytes(gold.address)}`,
  );
  expect(classes.map((row) => row.class)).not.toContain('none');
  expect((await stage.ownersOf(gold.address)).result).toContainEqual(
    expect.objectContaining({ owner_address: ALICE, balance: '500000' }),
  );
});

test('a node that hangs is waited for on one page, and not on those behind it', async () => {
  const { gold, node, scratch } = stage;
  const { database } = scratch;
  const { cursor } = await stage.ownersOf(gold.address, '?limit=2');
  // Background reads from a working node are finished by then.
  await stage.ownersOf(gold.address, `?cursor=${cursor}`);
  await database.query(
    sql`UPDATE erc20_holders SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL`,
  );
  const hanging = Promise.withResolvers<undefined>();
  node.alter = ({ method }) => (method === 'eth_call' ? hanging.promise : undefined);
  try {
    const before = stage.waits();
    await stage.ownersOf(gold.address, '?limit=2');
    const waits = stage.waits();
    expect(waits).toBeGreaterThan(before);
    // Transfers still determine them.
    expect((await stage.ownersOf(gold.address, `?cursor=${cursor}`)).result).toHaveLength(2);
    expect(stage.waits()).toBe(waits);
  } finally {
    hanging.resolve(undefined);
    node.alter = () => undefined;
  }
  await database.query(sql`TRUNCATE state_questions`);
  expect((await stage.ownersOf(gold.address)).indexed.complete).toBe(true);
});

test('a list that lacks somebody below zero is complete on no page until the contract was asked', async () => {
  const { gold, node, scratch } = stage;
  const { database } = scratch;
  const ofBob = sql`token = ${addressBytes(gold.address)} AND account = ${addressBytes(BOB)}`;
  await stage.ownersOf(gold.address);
  await database.query(
    sql`UPDATE erc20_holders SET total = -total, anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL WHERE ${ofBob}`,
  );
  node.alter = ({ method }) =>
    method === 'eth_call' ? { error: { code: -32_603, message: 'oops' } } : undefined;
  try {
    const first = await stage.ownersOf(gold.address, '?limit=2');
    const second = await stage.ownersOf(gold.address, `?cursor=${first.cursor}`);
    const shown = [...first.result, ...second.result].map(({ owner_address }) => owner_address);
    expect([shown.includes(BOB), first.indexed.complete, second.indexed.complete]).toEqual([false, false, false]);
  } finally {
    node.alter = () => undefined;
  }
  await database.query(sql`UPDATE erc20_holders SET total = -total WHERE ${ofBob}`);
  await database.query(sql`TRUNCATE state_questions`);
  const whole = await stage.ownersOf(gold.address);
  expect(whole.indexed.complete).toBe(true);
  expect(whole.result).toContainEqual(expect.objectContaining({ owner_address: BOB, balance: '700000' }));
});

describe('a supply that is to be read again, and that no node tells', () => {
  const TOTAL_SUPPLY = '18160ddd';
  const requested = () =>
    stage.node.received.filter(({ params }) => JSON.stringify(params).includes(TOTAL_SUPPLY)).length;

  test('is waited for once, and what was known of it stays; after a minute it is asked for again', async () => {
    const { gold, node, scratch } = stage;
    const { database } = scratch;
    expect((await stage.ownersOf(gold.address)).total_supply).toBe('1000000000');
    await database.query(
      sql`UPDATE tokens SET supply_read_at = now() - interval '61 minutes', total_supply = 999999999`,
    );
    node.alter = ({ method, params }) =>
      method === 'eth_call' && JSON.stringify(params).includes(TOTAL_SUPPLY)
        ? { error: { code: -32603, message: 'oops' } }
        : undefined;
    try {
      const failed = await stage.ownersOf(gold.address);
      const before = requested();
      expect(before).toBeGreaterThan(0);
      const again = await stage.ownersOf(gold.address);
      const behind = await stage.ownersOf(gold.address, '?limit=1');
      expect([failed.total_supply, again.total_supply, behind.total_supply]).toEqual(Array(3).fill('999999999'));
      expect(again).toEqual(failed);
      expect(requested()).toBe(before);
    } finally {
      node.alter = () => undefined;
    }
    await database.query(
      sql`UPDATE state_questions SET asked_at = asked_at - interval '61 seconds', settled_at = settled_at - interval '61 seconds'
       WHERE kind = 'token-facts'`,
    );
    expect((await stage.ownersOf(gold.address)).total_supply).toBe('1000000000');
  });
});

describe('a token whose beginning is not indexed', () => {
  test('is held by those that moved some since, as its contract says, and that is not complete', async () => {
    const { gold, devnet } = stage;
    const [gift] = await stage.scratch.database.query<{ block: number }>(
      sql`SELECT min(block_number) AS block FROM erc20_transfer_sides WHERE value = 1000 AND token = ${addressBytes(gold.address)}`,
    );
    await stage.forgetBelow(gift?.block ?? 0);
    const answer = await stage.ownersOf(gold.address);
    expect(answer.indexed.complete).toBe(false);
    // The sender's balance comes only from the contract; Alice and Bob did not move anything since.
    expect(answer.result[0]).toMatchObject({ owner_address: devnet.accounts[0], balance: '998774995' });
    expect(answer.result).toHaveLength(27);
    await gold.call('transfer', CAROL, 7n);
    await stage.follow();
    const later = await stage.ownersOf(gold.address);
    expect(later.result[0]).toMatchObject({ owner_address: devnet.accounts[0], balance: '998774988' });
    expect(later.result).toHaveLength(28);
    const { body } = await stage.ask(`erc20/${gold.address}/holders`);
    expect(body).toMatchObject({ totalHolders: 28, indexed: { complete: false } });
  });
});
