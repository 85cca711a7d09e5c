import { type Address, decimalAmount } from '@chainstead/core';
import { DIRECTION } from '@chainstead/db/direction';
import type { RowByName } from '@chainstead/db/rows-of';
import type { AddressLabel, PageBlock } from '@chainstead/pages';
import type { TokenBook } from '@chainstead/tokens/token-book';
import { z } from '@hono/zod-openapi';
import type { erc20Transfers } from '../schema.ts';

const addressText = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const hashText = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '18' });

/** docs/api/tokens.md#wallet-transfers */
export const transferSchema = z
  .object({
    token_name: z.string().nullable(),
    token_symbol: z.string().nullable(),
    token_logo: z.string().nullable(),
    token_decimals: digits.nullable(),
    from_address_entity: z.string().nullable(),
    from_address_entity_logo: z.string().nullable(),
    from_address: addressText,
    from_address_label: z.string().nullable(),
    to_address_entity: z.string().nullable(),
    to_address_entity_logo: z.string().nullable(),
    to_address: addressText,
    to_address_label: z.string().nullable(),
    address: addressText.openapi({ description: 'The token contract' }),
    block_hash: hashText,
    block_number: digits,
    block_timestamp: z.iso.datetime({ precision: 3 }).openapi({ example: '2022-11-19T20:01:23.000Z' }),
    transaction_hash: hashText,
    transaction_index: z.int().min(0),
    log_index: z.int().min(0),
    value: digits.openapi({ description: 'In base units of the token' }),
    value_decimal: z
      .string()
      .nullable()
      .openapi({ description: 'null until the decimals are known', example: '1.5' }),
    possible_spam: z.boolean(),
    verified_contract: z.boolean().openapi({ description: 'true if an imported token list contains the token' }),
    verified_collection: z.boolean().openapi({ description: 'Same as verified_contract' }),
  })
  .openapi('Erc20Transfer');

interface RelatedToTransfers {
  blockOf(transfer: { readonly block_number: number }): PageBlock;
  readonly tokenOf: TokenBook;
  labelOf(address: Address): AddressLabel;
}

type TransferSide = Omit<RowByName<typeof erc20Transfers>, 'account_key' | 'chain_id'>;

export function showTransfer(row: TransferSide, related: RelatedToTransfers): z.infer<typeof transferSchema> {
  const block = related.blockOf(row);
  const token = related.tokenOf(row.token);
  const sides = [row.account, row.counterparty] as const;
  const [sender, recipient] = row.direction === DIRECTION.received ? ([sides[1], sides[0]] as const) : sides;
  const [from, to] = [related.labelOf(sender), related.labelOf(recipient)];
  return {
    token_name: token.name,
    token_symbol: token.symbol,
    token_logo: token.logo,
    token_decimals: token.decimals === null ? null : String(token.decimals),
    from_address_entity: from.entity,
    from_address_entity_logo: from.entityLogo,
    from_address: sender,
    from_address_label: from.label,
    to_address_entity: to.entity,
    to_address_entity_logo: to.entityLogo,
    to_address: recipient,
    to_address_label: to.label,
    address: row.token,
    block_hash: block.block_hash,
    block_number: String(row.block_number),
    block_timestamp: block.block_timestamp,
    transaction_hash: row.transaction_hash,
    transaction_index: row.transaction_index,
    log_index: row.log_index,
    value: row.value,
    value_decimal: token.decimals === null ? null : decimalAmount(row.value, token.decimals),
    possible_spam: token.possibleSpam,
    verified_contract: token.verified,
    verified_collection: token.verified,
  };
}
