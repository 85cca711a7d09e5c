import type { Address } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import { defineEvent } from '@chainstead/events/decoding';
import { type Dataset, eventDataset, eventRows } from '@chainstead/sync/datasets';
import { type Erc4626VaultsRow, erc4626Vaults as table } from './schema.ts';

/** EIP-4626 */
const DEPOSIT = defineEvent(
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
);
const WITHDRAW = defineEvent(
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
);

export const erc4626Vaults: Dataset<Erc4626VaultsRow> = eventDataset({
  name: 'erc4626-vaults',
  table,
  events: [
    eventRows(DEPOSIT, (move, { address: vault }) => rowsOf({ vault, ...move, receiver: move.owner }, true)),
    eventRows(WITHDRAW, (move, { address: vault }) => rowsOf({ vault, ...move }, false)),
  ],
});

type VaultMove = Readonly<Record<'vault' | 'sender' | 'owner' | 'receiver', Address>> &
  Readonly<Record<'assets' | 'shares', string>>;

function rowsOf(move: VaultMove, isDeposit: boolean) {
  return [...new Set([move.owner, move.receiver])].map((account) => ({
    accountKey: addressKey(account),
    isReceiver: account !== move.owner,
    isDeposit,
    account,
    ...move,
  }));
}
