import { indexedSchema, showMoment } from '@chainstead/answers';
import { type Address, decimalAmount } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { AddressLabel, TransferRow } from './get-wallet-token-transfers.ts';

const addressText = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const hashText = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '18' });

const transferSchema = z
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
    value: digits.openapi({ description: "In the token's smallest unit" }),
    value_decimal: z.string().nullable().openapi({ description: 'null until the decimals are known', example: '1.5' }),
    possible_spam: z.boolean(),
    verified_contract: z.boolean().openapi({ description: 'Named by an imported token list' }),
    verified_collection: z.boolean().openapi({ description: 'The same as verified_contract' }),
  })
  .openapi('Erc20Transfer');

/** The answer of `getWalletTokenTransfers` (docs/provider-contract.md#wallet-transfers). */
export const walletTokenTransfersSchema = z
  .object({
    total: z.int().nullable().openapi({ description: 'Rows of the whole answer where that is known, else null' }),
    page: z.int().min(0).openapi({ description: 'From 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
    indexed: indexedSchema,
    result: z.array(transferSchema),
  })
  .openapi('Erc20Transfers');

/** One row of the answer: the wallet and its counterparty put back on their sides. */
export function showTransfer(wallet: Address, own: AddressLabel, row: TransferRow): z.infer<typeof transferSchema> {
  const isReceived = row.direction === 1;
  const verified = row.verified ?? false;
  return {
    token_name: row.name,
    token_symbol: row.symbol,
    token_logo: row.logo,
    token_decimals: row.decimals === null ? null : String(row.decimals),
    from_address_entity: isReceived ? row.label.entity : own.entity,
    from_address_entity_logo: isReceived ? row.label.entityLogo : own.entityLogo,
    from_address: isReceived ? row.counterparty : wallet,
    from_address_label: isReceived ? row.label.label : own.label,
    to_address_entity: isReceived ? own.entity : row.label.entity,
    to_address_entity_logo: isReceived ? own.entityLogo : row.label.entityLogo,
    to_address: isReceived ? wallet : row.counterparty,
    to_address_label: isReceived ? own.label : row.label.label,
    address: row.token,
    block_hash: row.block_hash,
    block_number: String(row.block_number),
    block_timestamp: showMoment(row.block_timestamp),
    transaction_hash: row.transaction_hash,
    transaction_index: row.transaction_index,
    log_index: row.log_index,
    value: row.value,
    value_decimal: row.decimals === null ? null : decimalAmount(row.value, row.decimals),
    possible_spam: row.possible_spam ?? false,
    verified_contract: verified,
    verified_collection: verified,
  };
}
