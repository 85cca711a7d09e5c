/** ERC-1155 that was minted before what is indexed: what routes say of who gave some, or all, of it away, against the contract, over a real node. */
import { type Address, createMetricsRegistry, silentLogger, systemClock, ZERO_ADDRESS } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { openStateStage, type StateStage } from '@chainstead/state/testing';
import { createChainSync, createKeptSubjects, createSyncMetrics } from '@chainstead/sync';
import { type CompiledContract, compileSolidity } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCollectionOwnersRoutes } from '../owners/owners-routes.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { createWalletNftsRoute } from '../wallet-nfts/wallet-nfts-route.ts';
import { createHeldNow } from './held-now.ts';
import { nftAmountsNow, nftOwnersNow } from './held-readers.ts';

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
const REORG_DEPTH_MAX = 6;
const IDS = [1, 2, 3, 4, 5];

let stage: StateStage;
let api: ApiApp;
let contract: CompiledContract;
let crates: Address;
/** Who held all of it before, and two others. */
let wallets: readonly Address[];
const stop = new AbortController();
let following: Promise<unknown> = Promise.resolve();

beforeAll(async () => {
  const facts = { pollIntervalMs: 20, blockTimeMs: 100, reorgDepthMax: REORG_DEPTH_MAX, finalizedTag: false };
  stage = await openStateStage({ chain: facts });
  const { scratch, devnet, questions } = stage;
  const compiled = (await compileSolidity({ 'Crates.sol': SOURCE })).get('Crates');
  if (compiled === undefined) throw new Error('Crates was not compiled');
  contract = compiled;
  wallets = devnet.accounts.slice(0, 3);
  crates = await devnet.deploy(contract);
  await stage.startWorker([nftOwnersNow, nftAmountsNow]);
  const heldNow = createHeldNow({ database: scratch.database, questions, logger: silentLogger() }, 5_000);
  const shared = { kept: createKeptSubjects(scratch.database), waitMs: 5_000, heldNow };
  api = await exampleApi(scratch.database, [
    createWalletNftsRoute({ ...shared, walletHistory: { requestWallet: async () => 'unserved' } }),
    ...createCollectionOwnersRoutes({ ...shared, walletHistory: { requestContract: async () => 'unserved' } }),
  ]);
});
afterAll(async () => {
  stop.abort();
  await following;
  await stage?.close();
});

/** Nobody (null) mints and burns. Each in a block of its own. */
async function move(from: number | null, to: number | null, id: number, amount: number): Promise<void> {
  const [giver, receiver] = [from, to].map((place) => (place === null ? ZERO_ADDRESS : wallets[place]));
  await stage.devnet.send({
    address: crates,
    abi: contract.abi,
    functionName: 'move',
    args: [giver, receiver, BigInt(id), BigInt(amount)],
  });
}

/** What came before is in no index. */
function followFrom(startBlock: number): void {
  const { scratch, chain, pool } = stage;
  following = createChainSync({
    chain,
    pool,
    database: scratch.database,
    datasets: [nftTransfers],
    logger: silentLogger(),
    metrics: createSyncMetrics(createMetricsRegistry()),
    clock: systemClock,
    settings: {
      startBlock,
      endBlock: null,
      proof: 'strict',
      backfillProof: 'none',
      backfillOrder: 'newest-first',
      proverRate: 0,
    },
  }).run(stop.signal);
}

interface List {
  readonly status: string;
  readonly cursor: string | null;
  readonly indexed: { readonly to_block: string | null };
  readonly result: readonly { readonly token_id: string; readonly owner_of: string; readonly amount: string }[];
}

async function ask(path: string): Promise<List> {
  const answer = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as List;
}

/** All pages of a list, as text. */
async function listOf(path: string, limit: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for (let next: string | null = `limit=${limit}`; next !== null; ) {
    const page: List = await ask(`${path}?${next}`);
    expect(page.status).toBe('SYNCING');
    lines.push(...page.result.map(({ token_id, owner_of, amount }) => `${token_id} ${owner_of} ×${amount}`));
    next = page.cursor === null ? null : `cursor=${page.cursor}`;
  }
  return lines.toSorted();
}

interface Told {
  readonly head: string;
  readonly ofWallets: readonly (readonly string[])[];
  readonly owners: readonly string[];
  readonly byId: readonly (readonly string[])[];
}

/** Of accounts and ids that moved since: what the contract says that they hold. */
async function readNode(startBlock: number): Promise<Told> {
  const { client } = stage.devnet;
  const logs = await client.getLogs({ address: crates, fromBlock: BigInt(startBlock) });
  const moved = new Set(
    logs.flatMap(({ topics, data }) => {
      const id = Number(BigInt(data.slice(0, 66)));
      return (topics as readonly string[]).slice(2).map((side) => `${id} 0x${side.slice(-40)}`);
    }),
  );
  const held = await Promise.all(
    wallets.flatMap((owner) =>
      IDS.map(async (id) => {
        const call = { address: crates, abi: contract.abi, functionName: 'balanceOf', args: [owner, BigInt(id)] };
        const amount = (await client.readContract(call)) as bigint;
        return { id, owner, amount, isMoved: moved.has(`${id} ${owner}`) };
      }),
    ),
  );
  const shown = held.filter(({ amount, isMoved }) => isMoved && amount > 0n);
  const linesOf = (rows: typeof shown) => rows.map(({ id, owner, amount }) => `${id} ${owner} ×${amount}`).toSorted();
  return {
    head: String(await client.getBlockNumber({ cacheTime: 0 })),
    ofWallets: wallets.map((wallet) => linesOf(shown.filter(({ owner }) => owner === wallet))),
    owners: linesOf(shown),
    byId: IDS.map((id) => linesOf(shown.filter((row) => row.id === id))),
  };
}

async function readRoutes(limit: number): Promise<Told> {
  const ofWallets: (readonly string[])[] = [];
  for (const wallet of wallets) ofWallets.push(await listOf(`${wallet}/nft`, limit));
  const byId: (readonly string[])[] = [];
  for (const id of IDS) byId.push(await listOf(`nft/${crates}/${id}/owners`, limit));
  const owners = await listOf(`nft/${crates}/owners`, limit);
  return { head: (await ask(`nft/${crates}/owners`)).indexed.to_block ?? 'none', ofWallets, owners, byId };
}

async function expectAgreement(startBlock: number): Promise<Told> {
  const node = await readNode(startBlock);
  for (const limit of [100, 1])
    await expect.poll(() => readRoutes(limit), { timeout: 20_000, interval: 100 }).toEqual(node);
  return node;
}

test('what is left of ERC-1155 that was minted before what is indexed is shown to whoever gave some away, on pages of any length', async () => {
  for (const id of IDS) await move(null, 0, id, 10);
  await stage.devnet.mine(2);
  const startBlock = Number(await stage.devnet.client.getBlockNumber({ cacheTime: 0 })) + 1;
  // Some; all; some that came back in part; some that came back whole; of the fifth nothing ever moves.
  await move(0, 1, 1, 3);
  await move(0, 1, 2, 10);
  await move(0, 1, 3, 7);
  await move(1, 0, 3, 2);
  await move(0, 2, 4, 4);
  await move(2, 0, 4, 4);
  await stage.devnet.mine(REORG_DEPTH_MAX + 2);
  followFrom(startBlock);
  const [first = ZERO_ADDRESS, second = ZERO_ADDRESS] = wallets;
  const begun = await expectAgreement(startBlock);
  expect(begun.ofWallets).toEqual([
    [`1 ${first} ×7`, `3 ${first} ×5`, `4 ${first} ×10`],
    [`1 ${second} ×3`, `2 ${second} ×10`, `3 ${second} ×5`],
    [],
  ]);
  expect(begun.byId[3]).toEqual([`4 ${first} ×10`]);

  await move(0, 2, 1, 7);
  await move(0, null, 4, 1);
  await expectAgreement(startBlock);
  await stage.devnet.reorg(2);
  await move(0, 2, 5, 10);
  const after = await expectAgreement(startBlock);
  expect(after.ofWallets[2]).toEqual([`5 ${wallets[2]} ×10`]);
}, 120_000);
