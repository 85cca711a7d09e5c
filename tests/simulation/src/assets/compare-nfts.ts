/** Who holds which NFT, against what their contracts say. */
import type { Address } from '@chainstead/core';
import { z } from 'zod';
import { fetchAll, fetchOne, UnansweredError } from '../story/api.ts';
import { type Difference, type Differences, gatherDifferences, unlessUnanswered } from '../story/difference.ts';
import type { Comparison } from './comparison.ts';
import { type NftHolding, type NftTruth, readNftTruth } from './truth.ts';
import { NFT_KINDS, type NftKind, nameOf } from './world.ts';

const nftShape = z.object({
  token_address: z.string(),
  token_id: z.string(),
  owner_of: z.string(),
  amount: z.string().nullable(),
});
const statusShape = z.object({ status: z.enum(['SYNCED', 'SYNCING']) });
const statsShape = z.object({
  total_tokens: z.string(),
  owners: z.object({ current: z.string() }),
  transfers: z.object({ total: z.string() }),
  indexed: z.object({ complete: z.boolean() }),
});

/** Owners of a collection with their ids, its counts, and one of its ids. */
export async function compareCollection(comparison: Comparison, kind: NftKind): Promise<readonly Difference[]> {
  const differences = gatherDifferences();
  const truth = await readNftTruth(comparison.world, kind, comparison.truth.block);
  await unlessUnanswered(differences, () => compareOwners(comparison, kind, truth, differences));
  await unlessUnanswered(differences, () => compareIds(comparison, kind, truth, differences));
  await unlessUnanswered(differences, () => compareStats(comparison, kind, truth, differences));
  await unlessUnanswered(differences, () => compareOwner(comparison, kind, truth, differences));
  return differences.found;
}

function textOf(token: string, { id, owner, amount }: NftHolding): string {
  return `${token} ${id} of ${owner} ×${amount}`;
}

/** What has to be known by events. */
function reported({ holdings, moved }: NftTruth): readonly NftHolding[] {
  return holdings.filter(({ id }) => moved.has(id));
}

// Invariant: NFT-OWNERS
async function compareOwners(
  { api, world, isWhole, limit }: Comparison,
  kind: NftKind,
  truth: NftTruth,
  differences: Differences,
): Promise<void> {
  const token = world.nfts[kind];
  const path = `nft/${token}/owners`;
  const list = await fetchAll(api, path, nftShape, limit);
  const expected = new Set(truth.holdings.map((holding) => textOf(token, holding)));
  compareRows(path, list.rows, expected, differences);
  const { status } = statusShape.parse(list.first);
  if (list.isComplete !== (status === 'SYNCED'))
    differences.wrong(`${path} is ${status}, complete ${list.isComplete}`);
  if (!list.isComplete && isWhole) differences.missing(`${path} is not complete`);
  if (list.isComplete)
    compareMissing(
      path,
      list.rows,
      reported(truth).map((one) => textOf(token, one)),
      differences,
    );
}

type NftRow = z.output<typeof nftShape>;

function rowText({ token_address, token_id, owner_of, amount }: NftRow): string {
  return textOf(token_address, { id: token_id, owner: owner_of as Address, amount: amount ?? 'unknown' });
}

function compareRows(
  path: string,
  rows: readonly NftRow[],
  expected: ReadonlySet<string>,
  differences: Differences,
): void {
  const seen = new Set<string>();
  for (const text of rows.map(rowText)) {
    if (seen.has(text)) differences.wrong(`${path} has ${text} twice`);
    if (!expected.has(text)) differences.wrong(`${path} has ${text}, which the contract denies`);
    seen.add(text);
  }
}

function compareMissing(
  path: string,
  rows: readonly NftRow[],
  expected: readonly string[],
  differences: Differences,
): void {
  const shown = new Set(rows.map(rowText));
  for (const text of expected) if (!shown.has(text)) differences.wrong(`${path} is complete without ${text}`);
}

const idShape = nftShape.extend({ owner_of: z.string().nullable() });

/** Ids of the collection: of ERC-721 with their owner, of ERC-1155 with how many there are of each. */
async function compareIds(
  { api, world, limit }: Comparison,
  kind: NftKind,
  truth: NftTruth,
  differences: Differences,
): Promise<void> {
  const path = `nft/${world.nfts[kind]}`;
  const list = await fetchAll(api, path, idShape, limit);
  const isSingle = kind !== 'prints';
  const expected = new Map<string, string>();
  for (const { id, owner, amount } of reported(truth)) {
    const before = expected.get(id) ?? '0';
    expected.set(id, isSingle ? `1 of ${owner}` : String(BigInt(before) + BigInt(amount)));
  }
  const shown = new Map(
    list.rows.map(({ token_id, owner_of, amount }) => [
      token_id,
      isSingle ? `${amount} of ${owner_of}` : `${amount}`,
    ]),
  );
  if (shown.size < list.rows.length) differences.wrong(`${path} has an id twice`);
  if (!list.isComplete) return;
  for (const id of new Set([...expected.keys(), ...shown.keys()]))
    if (expected.get(id) !== shown.get(id))
      differences.wrong(`${path} says of ${id}: ${shown.get(id)}, the contract ${expected.get(id)}`);
}

async function compareStats(
  { api, world }: Comparison,
  kind: NftKind,
  truth: NftTruth,
  differences: Differences,
): Promise<void> {
  const path = `nft/${world.nfts[kind]}/stats`;
  const { body: stats } = await fetchOne(api, path, statsShape);
  if (!stats.indexed.complete) return;
  const holdings = reported(truth);
  const owners = [...new Set(holdings.map(({ owner }) => owner))].sort();
  const ids = new Set(holdings.map(({ id }) => id)).size;
  const shown = `${stats.total_tokens} ids, ${stats.owners.current} owners`;
  if (shown !== `${ids} ids, ${owners.length} owners`)
    differences.wrong(`${path} says ${shown}, by the contract there are ${ids} and ${owners.length}`);
  // One event mints all of these at once.
  if (kind !== 'founders' && stats.transfers.total !== String(truth.transfers))
    differences.wrong(`${path} counts ${stats.transfers.total} transfers, the node has ${truth.transfers}`);
  await compareUnique({ api, world }, kind, owners, differences);
}

const uniqueShape = z.object({
  indexed: z.object({ complete: z.boolean() }),
  walletAddresses: z.array(z.string()),
});

async function compareUnique(
  { api, world }: Pick<Comparison, 'api' | 'world'>,
  kind: NftKind,
  owners: readonly Address[],
  differences: Differences,
): Promise<void> {
  const path = `nft/${world.nfts[kind]}/unique-owners`;
  const { body } = await fetchOne(api, path, uniqueShape, { limit: '5000' });
  const { indexed, walletAddresses } = body;
  if (indexed.complete && walletAddresses.join() !== owners.join())
    differences.wrong(`${path} has ${walletAddresses.join()}, by the contract these are ${owners.join()}`);
}

const singleShape = z.object({ owner_of: z.string().nullable(), indexed: z.object({ complete: z.boolean() }) });

/** One id; another one each time that another block is the newest. */
async function compareOwner(
  { api, world, isWhole, truth: { block } }: Comparison,
  kind: NftKind,
  { holdings, moved }: NftTruth,
  differences: Differences,
): Promise<void> {
  const held = holdings[block % Math.max(1, holdings.length)];
  if (held === undefined || kind === 'prints') return;
  const path = `nft/${world.nfts[kind]}/${held.id}`;
  const answer = await api.ask(path);
  // An ID that never moved in the indexed blocks, and has no document, is unknown.
  if (answer.status === 404 && !(isWhole && moved.has(held.id))) return;
  if (answer.status !== 200) throw new UnansweredError(path, answer);
  const { owner_of: owner, indexed } = singleShape.parse(answer.body);
  const mustBeKnown = indexed.complete && moved.has(held.id);
  if (owner !== held.owner && (owner !== null || mustBeKnown))
    differences.wrong(`${path} is said to be of ${owner}, by the contract it is of ${held.owner}`);
}

/** Holdings of wallets in all collections. */
export async function compareWalletNfts(
  comparison: Comparison,
  wallets: readonly Address[],
): Promise<readonly Difference[]> {
  const { api, world, truth, isWhole, limit } = comparison;
  const differences = gatherDifferences();
  const held = new Map<NftKind, NftTruth>();
  for (const kind of NFT_KINDS) held.set(kind, await readNftTruth(world, kind, truth.block));
  for (const wallet of wallets)
    await unlessUnanswered(differences, async () => {
      const own = (which: (truth: NftTruth) => readonly NftHolding[]): string[] =>
        [...held].flatMap(([kind, all]) =>
          which(all).flatMap((one) => (one.owner === wallet ? [textOf(world.nfts[kind], one)] : [])),
        );
      const path = `${wallet}/nft`;
      const list = await fetchAll(api, path, nftShape, limit);
      compareRows(path, list.rows, new Set(own(({ holdings }) => holdings)), differences);
      if (!list.isComplete && isWhole) differences.missing(`${path} is not complete`);
      if (list.isComplete) compareMissing(path, list.rows, own(reported), differences);
    });
  return differences.found.map(({ text, mayPass }) => ({ text: named(world, text), mayPass }));
}

function named(world: Comparison['world'], text: string): string {
  return NFT_KINDS.reduce(
    (shown, kind) => shown.replaceAll(world.nfts[kind], nameOf(world, world.nfts[kind])),
    text,
  );
}
