/** OpenZeppelin's vault on a real node, followed by the real engine: the API returns the moves that the node's transactions made. */
import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { openStateStage } from '@chainstead/node-reads/testing';
import type { Dataset } from '@chainstead/sync/datasets';
import { createChainSync, createSyncMetrics } from '@chainstead/sync/ingest';
import { compileSolidity } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test, vi } from 'vitest';
import { erc4626Vaults } from './dataset.ts';
import { walletVaultsRoute } from './wallet-vaults-route.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
contract Asset is ERC20 {
  constructor() ERC20("Asset", "AST") { _mint(msg.sender, 1000); }
}
contract Vault is ERC4626 {
  constructor(ERC20 asset) ERC20("Vault", "VLT") ERC4626(asset) {}
}`;

const stage = stageOfFile(() =>
  openStateStage({ chain: { pollIntervalMs: 50, finalizedTag: false, confirmations: 1, reorgDepthMax: 8 } }),
);

test('deposits, mints, withdrawals and redemptions of a vault are in the lists of owner and receiver', async () => {
  const { devnet, scratch, chain, pool } = stage;
  const contracts = await compileSolidity({ 'Vaults.sol': SOURCE });
  const [Asset, Vault] = [contracts.get('Asset'), contracts.get('Vault')];
  const [alice, bob, carol] = devnet.accounts;
  if (
    Asset === undefined ||
    Vault === undefined ||
    alice === undefined ||
    bob === undefined ||
    carol === undefined
  )
    throw new Error('The compiler or the node lacks something');
  const asset = await devnet.deploy(Asset);
  const vault = await devnet.deploy(Vault, [asset]);
  const call = (functionName: string, ...args: readonly unknown[]) =>
    devnet.send({ address: vault, abi: Vault.abi, functionName, args, from: alice });
  await devnet.send({
    address: asset,
    abi: Asset.abi,
    functionName: 'approve',
    args: [vault, 1_000n],
    from: alice,
  });
  const receipts = [
    await call('deposit', 100n, alice),
    await call('mint', 50n, bob),
    await call('withdraw', 30n, carol, alice),
    await call('redeem', 20n, alice, alice),
  ];

  const ending = new AbortController();
  const running = createChainSync({
    ...{ chain, pool, database: scratch.database, datasets: [erc4626Vaults as Dataset] },
    ...{ logger: silentLogger(), metrics: createSyncMetrics(createMetricsRegistry()), clock: systemClock },
    settings: {
      ...{ startBlock: 0, endBlock: null, proof: 'record', backfillProof: 'none' },
      ...{ backfillOrder: 'newest-first', verifyBlocksPerSecond: 0 },
    },
  }).run(ending.signal);
  const api = await exampleApi(scratch.database, [walletVaultsRoute]);
  const movesOf = async (wallet: Address) => {
    const response = await api.request(`/api/v2.2/wallets/${wallet}/vaults?order=ASC`, {
      headers: { 'X-API-Key': EXAMPLE_KEY },
    });
    return (await response.json()) as { indexed: { complete: boolean }; result: readonly object[] };
  };
  try {
    await vi.waitFor(async () =>
      expect(await movesOf(carol)).toMatchObject({ indexed: { complete: true }, result: [{}] }),
    );
    const [deposited, minted, withdrawn, redeemed] = [
      { kind: 'deposit', owner: alice, receiver: alice, assets: '100', shares: '100' },
      { kind: 'deposit', owner: bob, receiver: bob, assets: '50', shares: '50' },
      { kind: 'withdraw', owner: alice, receiver: carol, assets: '30', shares: '30' },
      { kind: 'withdraw', owner: alice, receiver: alice, assets: '20', shares: '20' },
    ].map((move, index) => ({
      ...move,
      ...{ vault_address: vault, sender: alice, transaction_hash: receipts[index]?.transactionHash },
    }));
    expect((await movesOf(alice)).result).toMatchObject([deposited, withdrawn, redeemed]);
    expect((await movesOf(bob)).result).toMatchObject([minted]);
    expect((await movesOf(carol)).result).toMatchObject([withdrawn]);
  } finally {
    ending.abort();
    await running;
  }
});
