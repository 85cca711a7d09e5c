import { type Address, decimalAmount } from '@chainstead/core';
import { asSql, expectedTrue, type Sql, sql } from '@chainstead/db';
import { DIRECTION, IS_GIVING_SIDE } from '@chainstead/db/column-types';
import type { RowByName } from '@chainstead/db/rows-of';
import { view, wire } from '@chainstead/http';
import type { AddressLabel, ChainInSql, PageBlock } from '@chainstead/pages';
import { NFT_STANDARDS, type TokenBook } from '@chainstead/tokens/token-book';
import type { erc20Transfers } from '../schema.ts';

interface RelatedToTransfers {
  blockOf(transfer: { readonly block_number: number }): PageBlock;
  readonly tokenOf: TokenBook;
  labelOf(address: Address): AddressLabel;
}

type TransferSide = Omit<RowByName<typeof erc20Transfers>, 'account_key' | 'chain_id'>;

const { address, count, digits, flag, hash, moment, text } = wire;

function transferOf(row: TransferSide, related: RelatedToTransfers) {
  const sides = [row.account, row.counterparty] as const;
  const [sender, recipient] = row.direction === DIRECTION.received ? ([sides[1], sides[0]] as const) : sides;
  return {
    row,
    sender,
    recipient,
    block: related.blockOf(row),
    token: related.tokenOf(row.token),
    from: related.labelOf(sender),
    to: related.labelOf(recipient),
  };
}

/** docs/api/tokens.md#wallet-transfers */
export const transferView = view('Erc20Transfer', transferOf, {
  token_name: text.orNull(({ token }) => token.name),
  token_symbol: text.orNull(({ token }) => token.symbol),
  token_logo: text.orNull(({ token }) => token.logo),
  token_decimals: digits.orNull(({ token }) => token.decimals?.toString() ?? null),
  from_address_entity: text.orNull(({ from }) => from.entity),
  from_address_entity_logo: text.orNull(({ from }) => from.entityLogo),
  from_address: address.of('sender'),
  from_address_label: text.orNull(({ from }) => from.label),
  to_address_entity: text.orNull(({ to }) => to.entity),
  to_address_entity_logo: text.orNull(({ to }) => to.entityLogo),
  to_address: address.of('recipient'),
  to_address_label: text.orNull(({ to }) => to.label),
  address: address('The token contract', ({ row }) => row.token),
  block_hash: hash(({ block }) => block.block_hash),
  block_number: digits(({ row }) => String(row.block_number)),
  block_timestamp: moment(({ block }) => block.block_timestamp),
  transaction_hash: hash(({ row }) => row.transaction_hash),
  transaction_index: count(({ row }) => row.transaction_index),
  log_index: count(({ row }) => row.log_index),
  value: digits('In base units of the token', ({ row }) => row.value),
  value_decimal: text.orNull(
    { description: 'null until the decimals are known', example: '1.5' },
    ({ row, token }) => (token.decimals === null ? null : decimalAmount(row.value, token.decimals)),
  ),
  possible_spam: flag(({ token }) => token.possibleSpam),
  verified_contract: flag('true if an imported token list contains the token', ({ token }) => token.verified),
  verified_collection: flag('Same as verified_contract', ({ token }) => token.verified),
});

/** Contains each transfer once: the side that did not only receive. */
export const BY_CONTRACT = 'erc20_transfer_sides_by_contract';

/** Conditions for that index. @param token its 20 bytes */
export function ofToken(token: Sql): readonly Sql[] {
  return [
    sql`token_key(token) = token_key(${token})`,
    expectedTrue(sql`token = ${token}`),
    asSql(IS_GIVING_SIDE),
  ];
}

export function isOfNfts(token: Sql, chainId: ChainInSql): Sql {
  return sql`(SELECT standard IN (${NFT_STANDARDS}) FROM tokens WHERE address = ${token} AND chain_id = ${chainId}) IS TRUE`;
}
