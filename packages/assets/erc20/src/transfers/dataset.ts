import type { Log } from '@chainstead/core';
import { decodeErc20Transfer, TRANSFER_TOPIC, topicOf } from '@chainstead/events/token-events';
import { forgetWalletCounts } from '@chainstead/pages';
import { contractsIn, type Dataset, type DecodeContext } from '@chainstead/sync/datasets';
import { erc20TransfersTable } from './row-table.ts';
import { type Erc20TransferRow, erc20Transfers as erc20TransferSides } from './schema.ts';
import { erc20TokenCounts } from './token-counts.ts';
import { erc20TokenHolders } from './token-holders.ts';
import { addSides } from './transfer-sides.ts';
import { erc20WalletTokens } from './wallet-tokens.ts';

/** One row per side; a self-transfer has one. Mints and burns have the zero address. */
export const erc20Transfers: Dataset<Erc20TransferRow> = {
  name: 'erc20-transfers',
  topics: () => [TRANSFER_TOPIC],
  table: erc20TransfersTable,
  decode,
  contracts: contractsIn('erc20', ({ token }) => token),
  projections: [
    erc20WalletTokens,
    erc20TokenCounts,
    erc20TokenHolders,
    forgetWalletCounts('erc20-transfers', [erc20TransferSides.account]),
  ],
  histories: {
    ofWallet: (_chain, wallet) => [
      { topics: [TRANSFER_TOPIC], indexed: [[topicOf(wallet)]] },
      { topics: [TRANSFER_TOPIC], indexed: [null, [topicOf(wallet)]] },
    ],
    ofContract: (_chain, contract) => [{ topics: [TRANSFER_TOPIC], addresses: [contract] }],
    // A wallet's balances come from contracts, not from the sum of all its transfers.
    mayBeCut: true,
  },
};

function decode(logs: readonly Log[], { chain }: DecodeContext): Erc20TransferRow[] {
  const rows: Erc20TransferRow[] = [];
  for (const log of logs) {
    const transfer = decodeErc20Transfer(log, chain);
    if (transfer !== null) addSides(rows, log, chain.id, transfer);
  }
  return rows;
}
