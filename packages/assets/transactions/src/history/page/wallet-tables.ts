import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { IN_HISTORY } from '../../stored/in-history.ts';

export interface WalletTable {
  readonly table: string;
  readonly key: string;
  readonly account: string;
  readonly also?: Sql;
}

export const WALLET_TABLES = {
  account: { table: 'account_transactions', key: 'account_key', account: 'account', also: IN_HISTORY },
  internal: { table: 'internal_transfers', key: 'account_key', account: 'account' },
  token: { table: 'erc20_transfer_sides', key: 'account_key', account: 'account' },
  nftFrom: { table: 'nft_transfers', key: 'address_key(from_address)', account: 'from_address' },
  nftTo: { table: 'nft_transfers', key: 'address_key(to_address)', account: 'to_address' },
  approval: { table: 'erc20_approvals', key: 'owner_key', account: 'owner' },
} as const satisfies Record<string, WalletTable>;

export const NFT_FROM_OTHERS = { ...WALLET_TABLES.nftTo, also: sql`from_address <> to_address` };

export function rowsOfWallet(
  { key, account }: Pick<WalletTable, 'key' | 'account'>,
  wallet: Address,
): readonly Sql[] {
  return [
    sql`${rawSql(key)} = ${addressKey(wallet)}::bigint`,
    expectedTrue(sql`${rawSql(account)} = ${addressBytes(wallet)}::bytea`),
  ];
}
