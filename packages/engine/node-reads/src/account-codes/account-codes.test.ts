import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, silentLogger, waitingAtMost } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deployKeeper, type Keeper } from '../testing/example-contracts.ts';
import { openStateStage, type StateStage } from '../testing/state-stage.ts';
import { accountCodesReader, createHasCodeOf, hasCodeOf } from './account-codes.ts';

const [WALLET, DELEGATING] = [addressOf(0xa11ce), addressOf(0x7702)];

let stage: StateStage;
let keeper: Keeper;

beforeAll(async () => {
  stage = await openStateStage();
  keeper = await deployKeeper(stage.devnet);
  // EIP-7702: 0xef0100 and whom the account delegates to.
  await stage.devnet.client.setCode({ address: DELEGATING, bytecode: `0xef0100${keeper.address.slice(2)}` });
  await stage.devnet.mine();
  await stage.startWorker([accountCodesReader]);
});
afterAll(() => stage.close());
beforeEach(async () => {
  stage.node.alter = () => undefined;
  await stage.scratch.database.query(sql`TRUNCATE account_codes, state_questions`);
});

const look = (waitMs = 10_000, by = hasCodeOf) => {
  const { scratch, nodeReads, chain } = stage;
  const context = { database: scratch.database, nodeReads, logger: silentLogger() };
  return waitingAtMost(waitMs, () => by(context, chain, [keeper.address, WALLET, DELEGATING]));
};
const looks = () => stage.node.received.filter(({ method }) => method === 'eth_getCode').length;

test('contracts are told from accounts, delegating ones among them, and stay known', async () => {
  const expected = new Map([
    [keeper.address, true],
    [WALLET, false],
    [DELEGATING, false],
  ]);
  expect(await look()).toEqual(expected);
  const before = looks();
  expect(await look(0)).toEqual(expected);
  expect(looks()).toBe(before);
});

test('that there is none is looked at again after an hour, that there is one never', async () => {
  await look();
  await stage.scratch.database.query(sql`UPDATE account_codes SET looked_at = now() - interval '61 minutes'`);
  await stage.devnet.client.setCode({ address: WALLET, bytecode: '0x6001' });
  await stage.devnet.mine();
  const before = looks();
  expect((await look()).get(WALLET)).toBe(true);
  expect(looks() - before).toBe(2);
});

test('what no node tells in time is missing, and what was known stays', async () => {
  await look();
  await stage.scratch.database.query(sql`UPDATE account_codes SET looked_at = now() - interval '61 minutes'`);
  await stage.scratch.database.query(sql`TRUNCATE state_questions`);
  stage.node.alter = ({ method }) =>
    method === 'eth_getCode' ? { error: { code: -32603, message: 'oops' } } : undefined;
  expect((await look()).get(DELEGATING)).toBe(false);
  await stage.scratch.database.query(sql`TRUNCATE account_codes, state_questions`);
  expect(await look()).toEqual(new Map());
  expect(await look(0)).toEqual(new Map());
});

test('a node that hangs is waited for once, whatever addresses are asked about next', async () => {
  const { scratch, nodeReads, chain, node } = stage;
  const hanging = Promise.withResolvers<undefined>();
  node.alter = ({ method }) => (method === 'eth_getCode' ? hanging.promise : undefined);
  const context = { database: scratch.database, nodeReads, logger: silentLogger() };
  const waitsFor = async (address: Address, waitMs: number) => {
    const before = stage.waits();
    expect(await waitingAtMost(waitMs, () => hasCodeOf(context, chain, [address]))).toEqual(new Map());
    return stage.waits() - before;
  };
  expect(await waitsFor(addressOf(1), 300)).toBe(1);
  expect(await waitsFor(addressOf(2), 60_000)).toBe(0);
  expect(await waitsFor(addressOf(3), 60_000)).toBe(0);
  hanging.resolve(undefined);
});

describe('for many requests', () => {
  test('what is stored is remembered', async () => {
    const expected = await look();
    const remembering = createHasCodeOf();
    expect(await look(0, remembering)).toEqual(expected);
    await stage.scratch.database.query(sql`TRUNCATE account_codes, state_questions`);
    expect(await look(0, remembering)).toEqual(expected);
    expect(await look(0, createHasCodeOf())).toEqual(new Map());
    // Its question is answered here, so that no later test counts the requests for it.
    expect(await look()).toEqual(expected);
  });

  test('that there is none is looked at again after an hour', async () => {
    const absent = [...(await look()).values()].filter((hasCode) => !hasCode).length;
    expect(absent).toBeGreaterThan(0);
    const remembering = createHasCodeOf();
    await stage.scratch.database.query(sql`UPDATE account_codes SET looked_at = now() - interval '61 minutes'`);
    const before = looks();
    await look(10_000, remembering);
    expect(looks() - before).toBe(absent);
    await stage.scratch.database.query(
      sql`UPDATE account_codes SET looked_at = now() - interval '3599.5 seconds'`,
    );
    await look(10_000, remembering);
    await sleep(600);
    await look(10_000, remembering);
    expect(looks() - before).toBe(2 * absent);
  });
});
