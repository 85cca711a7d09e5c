/**
 * Every list of assets to its end, in the smallest and in the largest pages, by the official SDK where it has a call, from the running program: while
 * blocks arrive between pages and others are reorganised away, no row comes twice, and none is missing that was there all the time.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../indexed-chain.ts';
import { ASSET_OPERATIONS } from './asset-operations.ts';
import { STIRRED_AGAIN } from './holdings-scene.ts';
import { type HoldingsStage, openHoldingsStage } from './holdings-stage.ts';
import { LIST_ROUTES, type ListRoute } from './list-routes.ts';
import { readLedger } from './scene-ledger.ts';

const CHAIN_ID = 1_337_041;
/** Rows a page, and rows of the lists that are read in such pages: more than a page of them, but for the few traits. */
const WALKS = [
  { limit: 1, size: 7 },
  { limit: 100, size: 105 },
] as const;
/** Pages after which something happens. */
const TROUBLED = [1, 3];

let stage: HoldingsStage;

beforeAll(async () => {
  stage = await openHoldingsStage({ chainId: CHAIN_ID, sizes: WALKS.map(({ size }) => size) });
  await stage.settle();
  // Traits are computed once somebody has asked for them.
  for (const { gallery } of stage.scenes)
    await waitUntil(async () => {
      const { status, body } = await stage.ask(`nft/${gallery}/traits`);
      return status === 200 ? null : `${status} ${JSON.stringify(body)}`;
    }, 60_000);
}, 240_000);
afterAll(() => stage?.close());

test('every operation that takes a cursor is among them', () => {
  const paged = ASSET_OPERATIONS.flatMap(({ name, parameters }) => ('cursor' in parameters ? [name] : []));
  expect(LIST_ROUTES.map(({ name }) => name).toSorted()).toEqual(paged.toSorted());
});

describe.each(WALKS)('in pages of $limit', ({ limit, size }) => {
  test.each(LIST_ROUTES)('$name', async (route) => {
    const { shown, always, ever, pages } = await walk(route, limit, size);
    expect(shown.length, 'rows that came twice').toBe(new Set(shown).size);
    expect([...new Set(shown).difference(ever)], 'rows that never were').toEqual([]);
    expect([...always.difference(new Set(shown))], 'rows that are missing').toEqual([]);
    expect(pages).toBeGreaterThanOrEqual(Math.ceil(always.size / limit));
    expect(always.size).toBeGreaterThan(3);
  });
});

interface Walk {
  readonly shown: readonly string[];
  /** Rows that there were whenever it was looked, and all rows of any such moment. */
  readonly always: ReadonlySet<string>;
  readonly ever: ReadonlySet<string>;
  readonly pages: number;
}

async function walk(route: ListRoute, limit: number, size: number): Promise<Walk> {
  const scene = stage.scenes.find((one) => one.size === size);
  if (scene === undefined) throw new Error(`There is no scene of ${size}`);
  const truths: ReadonlySet<string>[] = [];
  const look = async (): Promise<void> => {
    await stage.settle();
    truths.push(new Set(route.truth(scene, await readLedger(stage.devnet, scene))));
  };
  await scene.stir();
  await look();
  const shown: string[] = [];
  let pages = 0;
  for await (const body of route.open(stage, scene, limit)) {
    shown.push(...route.keysOf(body));
    if (!TROUBLED.includes(++pages)) continue;
    await stage.devnet.reorg(STIRRED_AGAIN);
    await look();
    await scene.stir();
    await look();
  }
  return {
    ...{ shown, pages },
    always: truths.reduce((all, one) => all.intersection(one)),
    ever: truths.reduce((all, one) => all.union(one)),
  };
}
