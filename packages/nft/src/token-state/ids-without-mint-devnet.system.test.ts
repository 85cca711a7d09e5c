/** What routes say of ids that their contract gave away in its constructor, without an event, against what it says itself, over a real node. */
import {
  type Address,
  createMetricsRegistry,
  parseAddress,
  silentLogger,
  systemClock,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { createSyncMetrics, reindexRanges } from '@chainstead/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nftTransfers } from '../transfers/dataset.ts';
import { type FollowedCollection, openFollowedCollection, REORG_DEPTH_MAX } from './testing/followed-collection.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Founders {
  event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
  mapping(uint256 => address) public ownerOf;
  constructor(address[] memory founders) {
    for (uint256 id = 0; id < founders.length; id++) ownerOf[id] = founders[id];
  }
  function transferFrom(address from, address to, uint256 id) external {
    require(ownerOf[id] == from && msg.sender == from);
    ownerOf[id] = to;
    emit Transfer(from, to, id);
  }
}
`;
const IDS = [0, 1, 2, 3, 4, 5];

let collection: FollowedCollection;
let founders: Address;
let wallets: readonly Address[];

beforeAll(async () => {
  const foundersOf = ([creator, other]: readonly Address[]) => [[creator, creator, creator, creator, other, other]];
  collection = await openFollowedCollection({ source: SOURCE, name: 'Founders', constructorArgs: foundersOf });
  founders = collection.address;
  wallets = collection.wallets;
});
afterAll(() => collection?.close());

/** A transfer by its owner, in a block of its own. */
async function give(id: number, from: number, to: number | null): Promise<void> {
  const [giver = ZERO_ADDRESS, receiver = ZERO_ADDRESS] = [wallets[from], to === null ? ZERO_ADDRESS : wallets[to]];
  await collection.send('transferFrom', [giver, receiver, BigInt(id)], giver);
}

/** Who has the ids that events tell of, as text. */
interface Told {
  readonly head: string;
  readonly held: readonly string[];
  readonly single: readonly string[];
  readonly owners: readonly string[];
  readonly counts: readonly [ids: string, owners: string, transfers: string];
  readonly ofWallets: readonly (readonly string[])[];
  readonly idsOfWallets: readonly number[];
}

async function readNode(): Promise<Told> {
  const logs = await collection.stage.devnet.client.getLogs({ address: founders, fromBlock: 0n });
  const moved = new Set(logs.map(({ topics }) => Number((topics as readonly string[])[3])));
  const ids = IDS.filter((id) => moved.has(id));
  const owners = await Promise.all(
    ids.map(async (id) => parseAddress(String(await collection.read('ownerOf', [BigInt(id)])))),
  );
  const all = ids.map((id, place) => ({ id, owner: owners[place] ?? ZERO_ADDRESS }));
  const held = all.filter(({ owner }) => owner !== ZERO_ADDRESS);
  const unique = [...new Set(held.map(({ owner }) => owner))].toSorted();
  const ofWallets = wallets.map((wallet) => held.filter(({ owner }) => owner === wallet).map(({ id }) => `${id} ×1`));
  return {
    head: String(await collection.head()),
    held: held.map(({ id, owner }) => `${id} ${owner} ×1`),
    single: all.map(({ id, owner }) => `${id} ${owner === ZERO_ADDRESS ? null : owner}`),
    owners: unique,
    counts: [String(held.length), String(unique.length), String(logs.length)],
    ofWallets,
    idsOfWallets: ofWallets.map((list) => list.length),
  };
}

interface Row {
  readonly token_id: string;
  readonly owner_of: string | null;
  readonly amount: string | null;
}
interface List {
  readonly result: readonly Row[];
  readonly indexed: { readonly to_block: string | null; readonly complete: boolean };
}

/** What routes say; a text where they don't agree, or are not complete. */
async function readRoutes(ids: readonly string[]): Promise<Told | string> {
  const { ask } = collection;
  const list = await ask<List>(`nft/${founders}`);
  const rowsOf = ({ result }: List) =>
    result.map(({ token_id, owner_of, amount }) => `${token_id} ${owner_of} ×${amount}`).toSorted();
  const held = rowsOf(list);
  const owners = rowsOf(await ask<List>(`nft/${founders}/owners`));
  const byId: string[] = [];
  for (const id of ids) byId.push(...rowsOf(await ask<List>(`nft/${founders}/${id}/owners`)));
  const ofWallets: (readonly string[])[] = [];
  const idsOfWallets: number[] = [];
  for (const wallet of wallets) {
    const tokens = await ask<List>(`${wallet}/nft`);
    if (!tokens.indexed.complete) return `${wallet} is not complete`;
    ofWallets.push(tokens.result.map(({ token_id, amount }) => `${token_id} ×${amount}`).toSorted());
    const { result } = await ask<{ result: readonly { count: number }[] }>(
      `${wallet}/nft/collections?token_counts=true`,
    );
    idsOfWallets.push(result[0]?.count ?? 0);
  }
  const unique = await ask<{ walletAddresses: readonly string[] }>(`nft/${founders}/unique-owners`);
  const stats = await ask<{ total_tokens: string; owners: { current: string }; transfers: { total: string } }>(
    `nft/${founders}/stats`,
  );
  const single: string[] = [];
  for (const id of ids) single.push(`${id} ${(await ask<Row>(`nft/${founders}/${id}`)).owner_of}`);
  if (!list.indexed.complete) return 'the collection is not complete';
  if (held.join() !== owners.join() || held.join() !== byId.toSorted().join())
    return `NFTs ${held.join()}, owners ${owners.join()}, one by one ${byId.join()}`;
  return {
    head: list.indexed.to_block ?? 'none',
    held,
    single,
    owners: unique.walletAddresses,
    counts: [stats.total_tokens, stats.owners.current, stats.transfers.total],
    ofWallets,
    idsOfWallets,
  };
}

async function expectAgreement(): Promise<Told> {
  const node = await readNode();
  const ids = node.single.map((text) => text.split(' ')[0] ?? '');
  await expect.poll(() => readRoutes(ids), { timeout: 20_000, interval: 100 }).toEqual(node);
  return node;
}

test('ids without a mint event are whose their contract says, in every list, through history, head, reorganisations and reindex', async () => {
  await give(0, 0, 1);
  await give(0, 1, 0);
  await give(1, 0, 0);
  await give(2, 0, 2);
  await collection.stage.devnet.mine(REORG_DEPTH_MAX + 2);
  collection.follow(0);
  const begun = await expectAgreement();
  expect(begun.ofWallets).toEqual([['0 ×1', '1 ×1'], [], ['2 ×1']]);

  await give(3, 0, 1);
  await give(2, 2, 0);
  await expectAgreement();
  await give(3, 1, 0);
  await give(4, 1, 1);
  await give(0, 0, 2);
  await give(1, 0, null);
  const full = await expectAgreement();
  expect(full.held).toHaveLength(4);

  // What the fourth and the first did is as if it had never been.
  await collection.stage.devnet.reorg(4);
  const lost = await expectAgreement();
  expect(lost.held).toHaveLength(4);
  expect(lost.single.map((text) => text.split(' ')[0])).toEqual(['0', '1', '2', '3']);
  await give(3, 1, 1);
  await give(5, 1, 2);
  await collection.stage.devnet.mine(REORG_DEPTH_MAX + 2);
  const before = await expectAgreement();

  const { scratch, chain, pool } = collection.stage;
  const shared = { database: scratch.database, logger: silentLogger(), clock: systemClock };
  await reindexRanges(
    {
      ...shared,
      chain,
      pool,
      datasets: [nftTransfers],
      metrics: createSyncMetrics(createMetricsRegistry()),
      proof: 'strict',
      backfillProof: 'none',
    },
    [{ from: 0, to: Number(before.head) - REORG_DEPTH_MAX - 1 }],
    AbortSignal.timeout(30_000),
  );
  expect(await expectAgreement()).toEqual(before);
});
