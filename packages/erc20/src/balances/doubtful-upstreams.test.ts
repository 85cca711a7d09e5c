import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  ALICE,
  type BalanceStage,
  type BalanceStageOptions,
  GOLD,
  gives,
  nameInList,
  openBalanceStage,
  sends,
  TIN,
} from './testing/balance-stage.ts';

let scratch: ScratchDatabase;
let nextChain = 1_300_001;
const open: BalanceStage[] = [];

beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());
afterEach(async () => {
  await Promise.all(open.splice(0).map((stage) => stage.close()));
});

async function stageOf(options: Omit<BalanceStageOptions, 'chainId'> = {}): Promise<BalanceStage> {
  const stage = await openBalanceStage(scratch.database, { chainId: nextChain++, ...options });
  open.push(stage);
  return stage;
}

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
    await stage.tell();
    expect(await stage.shown()).toEqual([`${GOLD} 15 2`]);
    expect(await stage.classes()).toEqual({ [GOLD]: 'sum' });
  });

  test('that all differ are not believed at all: nothing is shown', async () => {
    const stage = await stageOf({ history: [[gives(GOLD, 4n)]] });
    await stage.mine([gives(GOLD, 10n)]);
    expect(await stage.shown()).toEqual([`${GOLD} 14 2`]);
    const [first, second] = stage.nodes;
    first.lies.set(GOLD, 77n);
    second.lies.set(GOLD, 78n);
    await stage.age(25);
    await stage.tell();
    expect(await stage.tell()).toMatchObject({ isComplete: false, balances: [] });
    expect(await stage.classes()).toEqual({});
    first.lies.clear();
    second.lies.clear();
    expect(await stage.shown()).toEqual([`${GOLD} 14 2`]);
  });

  test('that are away leave out what is not known, and keep what is', async () => {
    const stage = await stageOf();
    await stage.mine([gives(GOLD, 10n), gives(TIN, 3n)]);
    await nameInList(scratch.database, stage.chain.id, TIN);
    for (const node of stage.nodes) node.isDown = true;
    // A list vouches for it, and there is all of its transfers.
    expect(await stage.tell()).toMatchObject({ isComplete: false, balances: [{ token: TIN, balance: 3n }] });
    for (const node of stage.nodes) node.isDown = false;
    expect((await stage.shown()).toSorted()).toEqual([`${GOLD} 10 1`, `${TIN} 3 1`].toSorted());
    for (const node of stage.nodes) node.isDown = true;
    await stage.mine([sends(GOLD, 4n)]);
    expect(await stage.tell()).toMatchObject({ isComplete: true });
    expect(await stage.shown()).toEqual([`${GOLD} 6 2`, `${TIN} 3 2`]);
  });

  test('one alone is asked twice', async () => {
    const stage = await stageOf({ upstreams: 1 });
    await stage.mine([gives(GOLD, 10n)]);
    await stage.tell();
    await stage.mine([], [{ token: GOLD, wallet: ALICE, by: 1n }]);
    await stage.age(25);
    await stage.tell();
    expect(await stage.classes()).toEqual({ [GOLD]: 'live' });
  });
});
