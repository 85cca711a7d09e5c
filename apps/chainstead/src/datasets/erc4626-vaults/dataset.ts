import type { Address } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import { defineEvent } from '@chainstead/events/decoding';
import { eventDataset, eventRows } from '@chainstead/sync/datasets';
import type { AccountEvents } from '../account-events/account-events.ts';
import { type Erc4626VaultsRow, erc4626Vaults as table } from './schema.ts';

/** EIP-4626 */
const DEPOSIT = defineEvent(
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
);
const WITHDRAW = defineEvent(
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
);

export const erc4626Vaults: AccountEvents<Erc4626VaultsRow> = {
  ...eventDataset({
    name: 'erc4626-vaults',
    table,
    events: [
      eventRows(DEPOSIT, (move, { address: vault }) => rowsOf({ vault, ...move, receiver: move.owner }, true)),
      eventRows(WITHDRAW, (move, { address: vault }) => rowsOf({ vault, ...move }, false)),
    ],
  }),
  definition: table,
  description:
    'Deposits and withdrawals of ERC-4626 vaults, one row for each owner and each other receiver. Find them by account_key and account_bytes.',
  fields: [
    { name: 'vault_address', column: 'vault', type: 'bytes' },
    { name: 'kind', column: 'is_deposit', type: 'boolean', words: ['deposit', 'withdraw'] },
    { name: 'sender', column: 'sender', type: 'bytes', description: 'The caller of the vault' },
    { name: 'owner', column: 'owner', type: 'bytes', description: 'The owner of the shares' },
    {
      ...{ name: 'receiver', column: 'receiver', type: 'bytes' },
      description: 'The receiver of the assets. For a deposit, the owner',
    },
    { name: 'assets', column: 'assets', type: 'digits', description: 'Base units of the asset' },
    { name: 'shares', column: 'shares', type: 'digits', description: 'Base units of the vault token' },
  ],
  viewColumns: ['is_receiver'],
  endpoint: {
    ...{ subject: 'wallet', name: 'vaults', operationId: 'getWalletVaults', schema: 'WalletVaults' },
    summary: 'List ERC-4626 deposits and withdrawals by wallet',
    description:
      'Deposits and withdrawals with the wallet as owner or receiver, by block number, newest first by default. A wallet that is only the sender has no row. Chainstead extension: the hosted API has no such route.',
    noun: 'vault deposits and withdrawals',
  },
};

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
