/**
 * Every list of assets to its end, in the smallest and in the largest pages, by the official SDK if it has a call, from the running program. While
 * blocks arrive between pages and others are reorganized away, no row comes twice, and no row that existed all the time is missing.
 */
import { errorText } from '@chainstead/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { waitUntil } from '../indexed-chain.ts';
import { ASSET_OPERATIONS, assetOperation, type ParameterKind, TOKEN } from './asset-operations.ts';
import { COMMON_MOOD, type HoldingsScene, SHARED_PRINT, STIRRED_AGAIN } from './holdings-scene.ts';
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

/** Other values than those of the first request. One value of a flag is the default. */
const OTHER_VALUES: Readonly<Partial<Record<ParameterKind, readonly string[]>>> = {
  addresses: [TOKEN],
  block: ['1'],
  date: ['2020-01-01'],
  flag: ['true', 'false'],
  format: ['hex'],
  frame: ['5min'],
  limit: ['2'],
  number: ['5'],
  order: ['ASC', 'DESC'],
};

test.each(LIST_ROUTES)('a cursor of $name is refused with another value of each parameter', async (route) => {
  const [scene] = stage.scenes;
  if (scene === undefined) throw new Error('There is no scene');
  const { value } = await route.open(stage, scene, 1).next();
  const { cursor } = z.looseObject({ cursor: z.string() }).parse(value);
  const { path, parameters, body } = assetOperation(route.name);
  const isRefused = async (address: string, query: string): Promise<boolean> => {
    const filled = path.slice(1).replace('{address}', address).replace('{token_id}', String(SHARED_PRINT));
    const sent = body && { traits: { Mood: COMMON_MOOD } };
    const { status, body: refusal } = await stage.ask(`${filled}?cursor=${cursor}${query}`, sent);
    return status === 400 && JSON.stringify(refusal).includes('as in the cursor');
  };
  const address = subjectOf(path, scene);
  for (const [parameter, kind] of Object.entries(parameters)) {
    const values = OTHER_VALUES[kind] ?? [];
    const refusals = await Promise.all(values.map((other) => isRefused(address, `&${parameter}=${other}`)));
    if (values.length > 0) expect([parameter, refusals.includes(true)]).toEqual([parameter, true]);
  }
  expect(await isRefused(TOKEN, '')).toBe(true);
});

/** The contract or wallet whose rows the list of a path has. */
function subjectOf(path: string, { tokens, cats, prints, gallery, wallet }: HoldingsScene): string {
  if (path.includes('traits')) return gallery;
  if (path.includes('{token_id}') || path.includes('unique')) return prints;
  if (path.startsWith('/nft')) return cats;
  return path.startsWith('/erc20') ? tokens[0] : wallet;
}

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
