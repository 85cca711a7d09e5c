/** Routes with NFTs whose transfers don't show their holders, with a real node. */
import { type Address, silentLogger, systemClock, waitingAtMost } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type ApiApp, withWait } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { openStateStage } from '@chainstead/node-reads/testing';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { addressOf, type CompiledContract, compileSolidity, seedBuilt, storeToken } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCollectionOwnersRoutes } from '../owners/owners-routes.ts';
import { seedMoves } from '../records/testing/seeded-tokens.ts';
import { metadataRoutes } from '../single-nfts/metadata-routes.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { cover, seedWallet } from '../wallet-nfts/testing/seeded-wallet.ts';
import { createWalletNftsRoute } from '../wallet-nfts/wallet-nfts-route.ts';
import { createHeldNow, nftAmountsNow, nftOwnersNow } from './held-readers.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Swords {
  mapping(address => mapping(uint256 => uint256)) private held;
  function give(address to, uint256 id, uint256 amount) external { held[to][id] += amount; }
  function balanceOf(address owner, uint256 id) public view virtual returns (uint256) { return held[owner][id]; }
  function balanceOfBatch(address[] calldata owners, uint256[] calldata ids) external view returns (uint256[] memory amounts) {
    amounts = new uint256[](ids.length);
    for (uint256 i = 0; i < ids.length; i++) amounts[i] = balanceOf(owners[i], ids[i]);
  }
}
contract Shields is Swords {
  function balanceOf(address owner, uint256 id) public view override returns (uint256) {
    require(id != 13);
    return super.balanceOf(owner, id);
  }
}
contract Ghosts {
  function ownerOf(uint256 id) external pure returns (address) {
    require(id < 100);
    return id == 66 ? address(0) : address(0x6057);
  }
}
`;
const [WALLET, GHOST_OWNER, MARKET] = [addressOf(0xa11ce), addressOf(0x6057), addressOf(0xe)];
/** The oldest indexed block: earlier transfers are unknown. */
const FIRST_BLOCK = 5;

const stage = stageOfFile(openStateStage);
let api: ApiApp;
let swords: Address;
let shields: Address;
let ghosts: Address;

beforeAll(async () => {
  const { devnet, scratch, chain } = stage;
  const compiled = await compileSolidity({ 'Held.sol': SOURCE });
  [swords, shields, ghosts] = [
    await devnet.deploy(named(compiled, 'Swords')),
    await devnet.deploy(named(compiled, 'Shields')),
    await devnet.deploy(named(compiled, 'Ghosts')),
  ];
  const give = (address: Address, to: Address, id: bigint, amount: bigint) =>
    devnet.send({ address, abi: named(compiled, 'Swords').abi, functionName: 'give', args: [to, id, amount] });
  await give(swords, WALLET, 1n, 12n);
  await give(swords, MARKET, 1n, 3n);
  await give(shields, WALLET, 7n, 4n);
  await devnet.mine(4);
  const { number: head } = await stage.commit();
  await cover(scratch.database, chain, FIRST_BLOCK, head);
  for (const [address, as] of [
    [swords, 4],
    [shields, 4],
    [ghosts, 2],
  ] as const)
    await storeToken(scratch.database, chain.id, address, { seen_as: as });
  await seedMoves(scratch.database, chain, [
    { token: swords, id: '1', block: 6, from: MARKET, to: WALLET, amount: '2', kind: 'erc1155Single' },
    { token: swords, id: '2', block: 7, from: MARKET, to: WALLET, amount: '1', kind: 'erc1155Single' },
    { token: ghosts, id: '9', block: 6, from: GHOST_OWNER, to: WALLET },
  ]);
  await seedWallet(scratch.database, chain, WALLET, [
    { token: swords, id: '1', block: 6, amount: '2' },
    { token: swords, id: '2', block: 7 },
    { token: shields, id: '7', block: 6 },
    { token: shields, id: '13', block: 6 },
    { token: ghosts, id: '9', block: 6 },
  ]);
  await seedBuilt(scratch.database, chain.id, nftCollectionOwners);
  await stage.startWorker([nftOwnersNow, nftAmountsNow]);
  const { nodeReads } = stage;
  const context = { database: scratch.database, nodeReads, logger: silentLogger() };
  const heldNow = createHeldNow({
    ...context,
    nodeReads: { request: (...asked) => waitingAtMost(5_000, () => nodeReads.request(...asked)) },
  });
  const projections = createSubjectProjections(scratch.database);
  api = await exampleApi(
    scratch.database,
    [
      createWalletNftsRoute({
        projections,
        onDemandBackfill: { requestWallet: async () => 'unserved' },
        heldNow,
      }),
      ...createCollectionOwnersRoutes({
        projections,
        onDemandBackfill: { requestContract: async () => 'unserved' },
        heldNow,
      }),
      // No worker reads metadata here: only reads of holders are waited for.
      withWait({ waitMs: 0 }, metadataRoutes({ onDemand: { perKey: 50 }, clock: systemClock, heldNow })),
    ],
    { onDemand: { waitMs: 5_000 } },
  );
});
beforeEach(async () => {
  stage.node.alter = () => undefined;
  await stage.scratch.database.query(sql`TRUNCATE state_questions`);
});

function named(compiled: ReadonlyMap<string, CompiledContract>, name: string): CompiledContract {
  const contract = compiled.get(name);
  if (contract === undefined) throw new Error(`${name} was not compiled`);
  return contract;
}

interface Row {
  readonly token_address: string;
  readonly token_id: string;
  readonly amount: string | null;
  readonly owner_of: string | null;
  readonly block_number: string | null;
}

async function ask<Answer>(
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: Answer }> {
  const headers = { 'x-api-key': EXAMPLE_KEY, 'content-type': 'application/json' };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await api.request(`/api/v2.2/${path}`, init);
  return { status: answer.status, body: (await answer.json()) as Answer };
}

const listOf = async (path: string): Promise<readonly string[]> => {
  const { status, body } = await ask<{ status: string; result: readonly Row[] }>(path);
  expect([status, body.status]).toEqual([200, 'SYNCING']);
  return body.result.map((row) => `${row.token_address}:${row.token_id} ${row.amount} ${row.owner_of}`);
};

describe('ERC-1155 whose beginning is not indexed', () => {
  test('is among the NFTs of a wallet with what its contract says, and not where it says 0 or nothing', async () => {
    expect((await listOf(`${WALLET}/nft`)).toSorted()).toEqual(
      [`${swords}:1 12 ${WALLET}`, `${shields}:7 4 ${WALLET}`, `${ghosts}:9 1 ${WALLET}`].toSorted(),
    );
  });

  // Invariant: NFT-OWNERS
  test('is left out while no node answers', async () => {
    stage.node.alter = ({ method }) =>
      method === 'eth_call' ? { error: { code: -32_603, message: 'oops' } } : undefined;
    expect(await listOf(`${WALLET}/nft`)).toEqual([`${ghosts}:9 1 ${WALLET}`]);
  });

  test('is waited for once while a node hangs, on whatever page', async () => {
    const hanging = Promise.withResolvers<undefined>();
    stage.node.alter = ({ method }) => (method === 'eth_call' ? hanging.promise : undefined);
    const before = stage.waits();
    expect(await listOf(`${WALLET}/nft`)).toEqual([`${ghosts}:9 1 ${WALLET}`]);
    const waits = stage.waits();
    expect(waits).toBeGreaterThan(before);
    expect(await listOf(`nft/${swords}/owners`)).toEqual([]);
    expect(await listOf(`nft/${swords}/1/owners`)).toEqual([]);
    expect(stage.waits()).toBe(waits);
    hanging.resolve(undefined);
  });

  test('is told at the newest indexed block, by its hash', async () => {
    await listOf(`${WALLET}/nft`);
    const { hash } = await stage.devnet.client.getBlock();
    const calls = stage.node.received.filter(({ method }) => method === 'eth_call');
    expect(calls.length).toBeGreaterThan(0);
    for (const { params } of calls) expect(params[1]).toMatchObject({ blockHash: hash });
  });

  test('has its owners with what they hold, whoever is only known to have given some among them', async () => {
    const owners = [`${swords}:1 12 ${WALLET}`, `${swords}:1 3 ${MARKET}`];
    expect(await listOf(`nft/${swords}/owners`)).toEqual(owners);
    expect(await listOf(`nft/${swords}/1/owners`)).toEqual(owners);
  });

  test('has an amount by itself', async () => {
    expect((await ask<Row>(`nft/${swords}/1`)).body).toMatchObject({ owner_of: WALLET, amount: '12' });
    expect((await ask<Row>(`nft/${swords}/2`)).body).toMatchObject({ owner_of: null });
  });
});

describe('an id that never moved', () => {
  const OWNED = { token_id: '5', owner_of: GHOST_OWNER, amount: '1', block_number: null };

  test('has the owner that its contract tells', async () => {
    expect(await ask(`nft/${ghosts}/5`)).toMatchObject({ status: 200, body: OWNED });
    expect(await ask(`nft/${ghosts}/5/owners`)).toMatchObject({ status: 200, body: { result: [OWNED] } });
  });

  test('is nobody’s where its contract says so, or nothing', async () => {
    for (const id of ['66', '500']) {
      expect((await ask(`nft/${ghosts}/${id}`)).status).toBe(404);
      expect((await ask(`nft/${ghosts}/${id}/owners`)).body).toMatchObject({ result: [] });
    }
  });

  test('stands among several in the order of the request', async () => {
    const tokens = ['500', '5', '9', '66'].map((token_id) => ({ token_address: ghosts, token_id }));
    const { status, body } = await ask('nft/getMultipleNFTs', { tokens });
    expect(status).toBe(200);
    expect(body).toMatchObject([null, OWNED, { token_id: '9', owner_of: WALLET, block_number: '6' }, null]);
  });
});
