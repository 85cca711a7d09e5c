/**
 * Every list of assets to its end, in the smallest and in the largest pages, by the official SDK if it has a call, from the running program. While
 * blocks arrive between pages and others are reorganized away, no row comes twice, and no row that existed all the time is missing.
 */
import { errorText } from '@chainstead/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../indexed-chain.ts';
import { ASSET_OPERATIONS } from './asset-operations.ts';
import { type HoldingsScene, STIRRED_AGAIN } from './holdings-scene.ts';
import { type HoldingsStage, openHoldingsStage } from './holdings-stage.ts';
import { LIST_ROUTES, type ListRoute } from './list-routes.ts';
import { readLedger, type SceneLedger } from './scene-ledger.ts';

const CHAIN_ID = 1_337_041;
/** Rows a page, and rows of the lists that are read in such pages: more than a page of them, except the few traits. */
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
  // Traits are computed after the first request.
  for (const { gallery } of stage.scenes)
    await waitUntil(async () => {
      const { status, body } = await stage.ask(`nft/${gallery}/traits`);
      return status === 200 ? null : `${status} ${JSON.stringify(body)}`;
    }, 60_000);
});
afterAll(() => stage?.close());

test('every operation that takes a cursor is among them', () => {
  const paged = ASSET_OPERATIONS.flatMap(({ name, parameters }) => ('cursor' in parameters ? [name] : []));
  expect(LIST_ROUTES.map(({ name }) => name).toSorted()).toEqual(paged.toSorted());
});

// Invariant: PAGE-KEYSET
describe.each(WALKS)('in pages of $limit', ({ limit, size }) => {
  let walks: ReadonlyMap<string, Walk>;

  beforeAll(async () => {
    walks = await walkAll(limit, size);
  });

  test.each(LIST_ROUTES.map(({ name }) => name))('%s', (name) => {
    const walk = walks.get(name);
    if (walk === undefined) throw new Error(`${name} was not walked`);
    const { shown, always, ever, pages } = walk;
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

/** All lists side by side, a page of each at a time: what happens between pages happens to all of them. */
async function walkAll(limit: number, size: number): Promise<ReadonlyMap<string, Walk>> {
  const scene = stage.scenes.find((one) => one.size === size);
  if (scene === undefined) throw new Error(`There is no scene of ${size}`);
  const ledgers: SceneLedger[] = [];
  const look = async (): Promise<void> => {
    await stage.settle();
    ledgers.push(await readLedger(stage.devnet, scene));
  };
  await scene.stir();
  await look();
  const walks = LIST_ROUTES.map((route) => openWalk(route, scene, limit));
  let going: readonly OpenWalk[] = walks;
  for (let page = 1; ; page++) {
    const isGoing = await Promise.all(going.map((walk) => walk.turn()));
    going = going.filter((_, place) => isGoing[place]);
    if (going.length === 0) break;
    if (!TROUBLED.includes(page)) continue;
    await stage.devnet.reorg(STIRRED_AGAIN);
    await look();
    await scene.stir();
    await look();
  }
  return new Map(
    walks.map(({ route, shown, pages }) => {
      const truths = ledgers.map((ledger): ReadonlySet<string> => new Set(route.truth(scene, ledger)));
      const always = truths.reduce((all, one) => all.intersection(one));
      return [route.name, { shown, pages, always, ever: truths.reduce((all, one) => all.union(one)) }];
    }),
  );
}

/** A list that is walked, a page at a time. */
interface OpenWalk {
  readonly route: ListRoute;
  readonly shown: string[];
  pages: number;
  /** @returns whether there was one more page */
  turn(): Promise<boolean>;
}

function openWalk(route: ListRoute, scene: HoldingsScene, limit: number): OpenWalk {
  const bodies = route.open(stage, scene, limit);
  const walk: OpenWalk = {
    ...{ route, shown: [], pages: 0 },
    async turn() {
      const { done, value } = await bodies.next().catch((cause: unknown) => {
        throw new Error(`${route.name}, page ${walk.pages + 1}: ${errorText(cause)}`, { cause });
      });
      if (done === true) return false;
      walk.shown.push(...route.keysOf(value));
      walk.pages += 1;
      return true;
    },
  };
  return walk;
}
