/** Compares responses with the node, until they agree or certainly differ. */
import type { Address } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { compareUntilEqual, type Difference } from '../story/difference.ts';
import type { ComparedStory } from '../story/run-story.ts';
import { compareApprovals } from './compare-approvals.ts';
import { compareBalances, compareSupplies } from './compare-balances.ts';
import { compareCollection, compareWalletNfts } from './compare-nfts.ts';
import { compareHolders, compareOwners } from './compare-owners.ts';
import type { Comparison } from './comparison.ts';
import type { Truth } from './truth.ts';
import { type AssetsWorld, drifts, NFT_KINDS, TOKEN_KINDS } from './world.ts';

type ComparedStage = ComparedStory<AssetsWorld>;

type Part = (comparison: Comparison) => Promise<readonly Difference[]>;

/** Some of the answers, in the middle of a story. @returns the first difference in words; null where there is none */
export async function compareSome(stage: ComparedStage, truth: Truth): Promise<string | null> {
  const { world, random } = stage;
  const some = (count: number): Address[] => Array.from({ length: count }, () => random.pick(world.holders));
  const [wallets, owners, holders] = [some(4), some(2), some(2)];
  const [token, counted] = [random.pick(TOKEN_KINDS), random.pick(TOKEN_KINDS)];
  const collection = random.pick(NFT_KINDS);
  return compareAll(stage, truth, [
    (comparison) => compareBalances(comparison, wallets),
    (comparison) => compareOwners(comparison, token),
    (comparison) => compareHolders(comparison, counted),
    (comparison) => compareApprovals(comparison, owners),
    (comparison) => compareCollection(comparison, collection),
    (comparison) => compareWalletNfts(comparison, holders),
    ...(random.chance(0.5) ? [withoutDrift(compareSupplies)] : []),
  ]);
}

/** A supply that changes without a mint is shown as it was up to an hour. */
function withoutDrift(compare: Part): Part {
  return async (comparison) => (await compare(comparison)).filter(({ mayPass }) => !mayPass);
}

/** Everything. What may be shown as it was for hours is made so old that it has to be read again. */
export async function compareEverything(stage: ComparedStage, truth: Truth): Promise<string | null> {
  const { world, database } = stage;
  await database.query(sql`UPDATE erc20_wallet_tokens SET anchored_at = anchored_at - interval '25 hours'`);
  await database.query(sql`UPDATE tokens SET supply_read_at = supply_read_at - interval '2 hours'`);
  return compareAll(stage, truth, [
    compareSupplies,
    (comparison) => compareBalances(comparison, world.holders),
    // By now every wallet's balance was read again: a token that drifts has shown it.
    ...TOKEN_KINDS.map(
      (kind): Part =>
        (comparison) =>
          compareOwners(comparison, kind),
    ),
    ...TOKEN_KINDS.map(
      (kind): Part =>
        (comparison) =>
          compareHolders(comparison, kind),
    ),
    (comparison) => compareApprovals(comparison, world.accounts),
    ...NFT_KINDS.map(
      (kind): Part =>
        (comparison) =>
          compareCollection(comparison, kind),
    ),
    (comparison) => compareWalletNfts(comparison, world.holders),
  ]);
}

async function compareAll(stage: ComparedStage, truth: Truth, parts: readonly Part[]): Promise<string | null> {
  for (const part of parts) {
    const difference = await compareOne(stage, truth, part);
    if (difference !== null) return difference;
  }
  return null;
}

async function compareOne(stage: ComparedStage, truth: Truth, part: Part): Promise<string | null> {
  const { world, api, database, isWhole, clock, random } = stage;
  const limit = random.pick([1, 3, 7, 25, 100, 100]);
  return compareUntilEqual(clock, async () =>
    part({ world, api, database, truth, isWhole, unnoticed: await readUnnoticed(world, database), limit }),
  );
}

/** Tokens that drift, although the program still derives their balances from transfers. */
async function readUnnoticed(world: AssetsWorld, database: Database): Promise<ReadonlySet<Address>> {
  const rows = await database.query<{ token: Address }>(
    sql`SELECT '0x' || encode(token, 'hex') AS token FROM erc20_token_classes WHERE class = 'live'`,
  );
  const noticed = new Set(rows.map(({ token }) => token));
  const drifting = Object.values(world.tokens).filter((token) => drifts(world, token));
  return new Set(drifting.filter((token) => !noticed.has(token)));
}
