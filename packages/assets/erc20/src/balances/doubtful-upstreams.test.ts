import { parseAddress } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, balanceStages, GOLD, gives, nameInList, sends, TIN } from './testing/balance-stage.ts';
import { holdingOf } from './testing/token-chain.ts';

const stages = balanceStages(1_300_001);
const stageOf: typeof stages.open = (options) => stages.open(options);

describe('upstreams', () => {
  test('of which one lies are not believed before another one was asked', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 10n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 10 1`]);
    await stage.mine([gives(GOLD, 5n)]);
    await stage.age(25);
    for (const node of stage.nodes) node.lies.set(GOLD, 77n);
    const [, second] = stage.nodes;
    second.lies.clear();
    await stage.report();
    expect(await stage.shown()).toEqual([`${GOLD} 15 2`]);
    expect(await stage.classes()).toEqual({ [GOLD]: 'sum' });
  });

  test('of which one lies about tokens that are asked one by one is not asked about those again', async () => {
    const stage = await stageOf();
    const tokens = Array.from({ length: 8 }, (_, index) => addressOf(0x900 + index));
    await stage.mine(tokens.map((token) => gives(token, 10n)));
    const [liar, honest] = stage.nodes;
    for (const token of tokens) liar.lies.set(token, 77n);
    // The last response is not from the lying node.
    honest.before = () => new Promise((resolve) => setTimeout(resolve, 20));
    await stage.report();
    expect(liar.calls).toBeGreaterThan(0);
    expect((await stage.shown()).toSorted()).toEqual(tokens.map((token) => `${token} 10 1`));
    expect(Object.values(await stage.classes())).not.toContain('live');
  });

  test('that refuse one balance refuse no others', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 10n), { ...gives(GOLD, 3n), to: BOB }]);
    for (const node of stage.nodes) node.refused.add(holdingOf(GOLD, ALICE));
    expect(await stage.report()).toMatchObject({ isComplete: false, balances: [] });
    expect(await stage.classes()).toEqual({});
    expect(await stage.shown({ wallet: BOB })).toEqual([`${GOLD} 3 1`]);
    for (const node of stage.nodes) node.refused.clear();
    expect(await stage.shown()).toEqual([`${GOLD} 10 1`]);
  });

  test('of which one alone refuses a stranger too do not make a token one that tells no balance', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 10n)]);
    const stranger = parseAddress('0x7777777777777777777777777777777777777777');
    for (const node of stage.nodes) node.refused.add(holdingOf(GOLD, ALICE));
    for (const broken of stage.nodes) {
      broken.refused.add(holdingOf(GOLD, stranger));
      expect(await stage.shown()).toEqual([]);
      expect(await stage.classes()).toEqual({});
      broken.refused.delete(holdingOf(GOLD, stranger));
    }
  });

  // Invariant: BALANCE-RIGHT-OR-ABSENT
  test('that all differ are not believed at all: nothing is shown', async () => {
    const stage = await stageOf({ history: [[gives(GOLD, 4n)]] });
    await stage.mine([gives(GOLD, 10n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 14 2`]);
    const [first, second] = stage.nodes;
    first.lies.set(GOLD, 77n);
    second.lies.set(GOLD, 78n);
    await stage.age(25);
    await stage.report();
    expect(await stage.report()).toMatchObject({ isComplete: false, balances: [] });
    expect(await stage.classes()).toEqual({});
    first.lies.clear();
    second.lies.clear();
    expect(await stage.shown()).toEqual([`${GOLD} 14 2`]);
  });

  test('that are away leave out what is not known, and keep what is', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 10n), gives(TIN, 3n)]);
    await nameInList(stages.database, stage.chain.id, TIN);
    for (const node of stage.nodes) node.isDown = true;
    // A token list verifies it, and all of its transfers are indexed.
    expect(await stage.report()).toMatchObject({ isComplete: false, balances: [{ token: TIN, balance: 3n }] });
    for (const node of stage.nodes) node.isDown = false;
    expect((await stage.shown()).toSorted()).toEqual([`${GOLD} 10 1`, `${TIN} 3 1`].toSorted());
    for (const node of stage.nodes) node.isDown = true;
    await stage.mine([sends(GOLD, 4n)]);
    expect(await stage.report()).toMatchObject({ isComplete: true });
    expect(await stage.shown()).toEqual([`${GOLD} 6 2`, `${TIN} 3 2`]);
  });

  test('one alone is asked twice', async () => {
    const stage = await stageOf({ upstreams: 1 });
    await stage.mine([gives(GOLD, 10n)]);
    await stage.report();
    await stage.mine([], [{ token: GOLD, wallet: ALICE, by: 1n }]);
    await stage.age(25);
    await stage.report();
    expect(await stage.classes()).toEqual({ [GOLD]: 'live' });
  });
});
