/**
 * ERC-1155 tokens minted before the first indexed block: routes' results about accounts that gave some or all of them
 * away, against the contract, with a real node.
 */

import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { openFollowedCollection, REORG_DEPTH_MAX } from './testing/followed-collection.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Crates {
  event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);
  mapping(address => mapping(uint256 => uint256)) private held;
  function balanceOf(address owner, uint256 id) public view returns (uint256) { return held[owner][id]; }
  function balanceOfBatch(address[] calldata owners, uint256[] calldata ids) external view returns (uint256[] memory amounts) {
    amounts = new uint256[](ids.length);
    for (uint256 i = 0; i < ids.length; i++) amounts[i] = held[owners[i]][ids[i]];
  }
  function move(address from, address to, uint256 id, uint256 value) external {
    if (from != address(0)) held[from][id] -= value;
    if (to != address(0)) held[to][id] += value;
    emit TransferSingle(msg.sender, from, to, id, value);
  }
}
`;
const IDS = [1, 2, 3, 4, 5, 6];

const collection = stageOfFile(() => openFollowedCollection({ source: SOURCE, name: 'Crates' }));
/** The previous holder of everything, and two others. */
let wallets: readonly Address[];

beforeAll(async () => {
  wallets = collection.wallets;
});

/** Null mints and burns. Each move is in a separate block. */
async function move(from: number | null, to: number | null, id: number, amount: number): Promise<void> {
  const [giver, receiver] = [from, to].map((place) => (place === null ? ZERO_ADDRESS : wallets[place]));
  await collection.send('move', [giver, receiver, BigInt(id), BigInt(amount)]);
}

interface Row {
  readonly token_id: string;
  readonly owner_of: string | null;
  readonly amount: string | null;
}

interface Page<Item> {
  readonly status: string;
  readonly cursor: string | null;
  readonly indexed: { readonly to_block: string | null; readonly complete: boolean };
  readonly result: readonly Item[];
}

/** Reads all pages of a list. None may look complete. */
async function allOf<Item>(path: string, limit: number, query = ''): Promise<readonly Item[]> {
  const rows: Item[] = [];
  for (let next: string | null = `limit=${limit}${query}`; next !== null; ) {
    const page: Page<Item> = await collection.ask(`${path}?${next}`);
    expect([page.status, page.indexed.complete]).toEqual(['SYNCING', false]);
    rows.push(...page.result);
    next = page.cursor === null ? null : `cursor=${page.cursor}`;
  }
  return rows;
}

const lineOf = ({ token_id, owner_of, amount }: Row): string => `${token_id} ${owner_of} ×${amount}`;
const linesOf = async (path: string, limit: number): Promise<readonly string[]> =>
  (await allOf<Row>(path, limit)).map(lineOf).toSorted();

/** As texts. */
interface Reported {
  readonly head: string;
  readonly ofWallets: readonly (readonly string[])[];
  /** Number of ids per wallet. */
  readonly counts: readonly number[];
  readonly owners: readonly string[];
  readonly byId: readonly (readonly string[])[];
  readonly ids: readonly string[];
  /** Each moved id, with its last receiver. */
  readonly single: readonly string[];
}

/** The contract's balances of accounts and ids that moved since. */
async function readNode(startBlock: number): Promise<Reported> {
  const logs = await collection.stage.devnet.client.getLogs({
    address: collection.address,
    fromBlock: BigInt(startBlock),
  });
  const moves = logs.map(({ topics, data }) => {
    const [, , from = '', to = ''] = topics as readonly string[];
    return { id: Number(BigInt(data.slice(0, 66))), from: `0x${from.slice(-40)}`, to: `0x${to.slice(-40)}` };
  });
  const held = await Promise.all(
    wallets.flatMap((owner) =>
      IDS.map(async (id) => ({
        id,
        owner,
        amount: (await collection.read('balanceOf', [owner, BigInt(id)])) as bigint,
        changed: moves.findLastIndex((move) => move.id === id && [move.from, move.to].includes(owner)),
        received: moves.findLastIndex((move) => move.id === id && move.to === owner),
      })),
    ),
  );
  const shown = held.filter(({ amount, changed }) => changed >= 0 && amount > 0n);
  const linesOfHeld = (rows: typeof shown) =>
    rows.map(({ id, owner, amount }) => `${id} ${owner} ×${amount}`).toSorted();
  const ofWallets = wallets.map((wallet) => linesOfHeld(shown.filter(({ owner }) => owner === wallet)));
  const single = IDS.filter((id) => moves.some((move) => move.id === id)).map((id) => {
    const [newest] = shown
      .filter((row) => row.id === id)
      .toSorted((one, other) => other.received - one.received || other.changed - one.changed);
    return newest === undefined ? `${id} null ×null` : `${id} ${newest.owner} ×${newest.amount}`;
  });
  return {
    head: String(await collection.head()),
    ofWallets,
    counts: ofWallets.map((lines) => lines.length),
    owners: linesOfHeld(shown),
    byId: IDS.map((id) => linesOfHeld(shown.filter((row) => row.id === id))),
    ids: [...new Set(shown.map(({ id }) => String(id)))].toSorted(),
    single,
  };
}

async function readRoutes(limit: number, moved: readonly string[]): Promise<Reported> {
  const crates = collection.address;
  const ofWallets: (readonly string[])[] = [];
  const counts: number[] = [];
  for (const wallet of wallets) {
    ofWallets.push(await linesOf(`${wallet}/nft`, limit));
    const [held] = await allOf<{ count: number }>(`${wallet}/nft/collections`, limit, '&token_counts=true');
    counts.push(held?.count ?? 0);
  }
  const byId: (readonly string[])[] = [];
  for (const id of IDS) byId.push(await linesOf(`nft/${crates}/${id}/owners`, limit));
  const single: string[] = [];
  for (const id of moved) single.push(lineOf(await collection.ask<Row>(`nft/${crates}/${id}`)));
  const ids = (await allOf<Row>(`nft/${crates}`, limit)).map(({ token_id }) => token_id).toSorted();
  const owners = await linesOf(`nft/${crates}/owners`, limit);
  const { indexed } = await collection.ask<Page<Row>>(`nft/${crates}/owners`);
  return { head: indexed.to_block ?? 'none', ofWallets, counts, owners, byId, ids, single };
}

async function expectAgreement(startBlock: number): Promise<Reported> {
  const node = await readNode(startBlock);
  const moved = node.single.map((line) => line.split(' ')[0] ?? '');
  for (const limit of [100, 1])
    await expect.poll(() => readRoutes(limit, moved), { timeout: 20_000, interval: 100 }).toEqual(node);
  return node;
}

test('what is left of ERC-1155 that was minted before what is indexed is shown to whoever gave some away, on pages of any length', async () => {
  for (const id of IDS) await move(null, 0, id, 10);
  await collection.stage.devnet.mine(2);
  const startBlock = (await collection.head()) + 1;
  // Some; all; some with a partial return; some with a full return; the fifth never moves; some burned.
  await move(0, 1, 1, 3);
  await move(0, 1, 2, 10);
  await move(0, 1, 3, 7);
  await move(1, 0, 3, 2);
  await move(0, 2, 4, 4);
  await move(2, 0, 4, 4);
  await move(0, null, 6, 4);
  await collection.stage.devnet.mine(REORG_DEPTH_MAX + 2);
  collection.follow(startBlock);
  const [first = ZERO_ADDRESS, second = ZERO_ADDRESS] = wallets;
  const begun = await expectAgreement(startBlock);
  expect(begun.ofWallets).toEqual([
    [`1 ${first} ×7`, `3 ${first} ×5`, `4 ${first} ×10`, `6 ${first} ×6`],
    [`1 ${second} ×3`, `2 ${second} ×10`, `3 ${second} ×5`],
    [],
  ]);
  expect(begun.byId[3]).toEqual([`4 ${first} ×10`]);
  expect(begun.single).toEqual([
    `1 ${second} ×3`,
    `2 ${second} ×10`,
    `3 ${first} ×5`,
    `4 ${first} ×10`,
    `6 ${first} ×6`,
  ]);
  // No account is known to have received more of the fourth and the sixth than it gave.
  expect(begun.ids).toEqual(['1', '2', '3', '4', '6']);

  await move(0, 2, 1, 7);
  await move(0, null, 4, 1);
  await move(0, null, 6, 6);
  expect((await expectAgreement(startBlock)).ids).toEqual(['1', '2', '3', '4']);
  await collection.stage.devnet.reorg(3);
  await move(0, 2, 5, 10);
  const after = await expectAgreement(startBlock);
  expect(after.ofWallets[2]).toEqual([`5 ${wallets[2]} ×10`]);
});
