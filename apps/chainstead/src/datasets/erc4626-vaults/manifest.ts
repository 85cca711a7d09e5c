import type { Log } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import { type DecodeContext, defineTable } from '@chainstead/sync';
import type { DatasetManifest } from '../manifest/dataset-manifest.ts';
import { DEPOSIT_TOPIC, decodeVaultMove, WITHDRAW_TOPIC } from './decode.ts';
import { walletVaults } from './endpoint.ts';
import { type Erc4626VaultsRow, erc4626Vaults as table } from './schema.ts';

export const erc4626Vaults: DatasetManifest<Erc4626VaultsRow> = {
  name: walletVaults.dataset,
  summary: 'Deposits and withdrawals of ERC-4626 vaults',
  topics: () => [DEPOSIT_TOPIC, WITHDRAW_TOPIC],
  table: defineTable(table),
  decode,
  endpoints: [walletVaults],
  loadRoutes: () => import('./route.ts'),
};

function decode(logs: readonly Log[], { chain }: DecodeContext): Erc4626VaultsRow[] {
  return logs.flatMap((log) => {
    const move = decodeVaultMove(log);
    if (move === null) return [];
    const { kind, sender, owner, receiver, assets, shares } = move;
    return [...new Set([owner, receiver])].map((account) => ({
      accountKey: addressKey(account),
      chainId: chain.id,
      blockNumber: log.blockNumber,
      transactionIndex: log.transactionIndex,
      logIndex: log.logIndex,
      isReceiver: account !== owner,
      isDeposit: kind === 'deposit',
      account,
      vault: log.address,
      sender,
      owner,
      receiver,
      assets,
      shares,
      transactionHash: log.transactionHash,
    }));
  });
}
