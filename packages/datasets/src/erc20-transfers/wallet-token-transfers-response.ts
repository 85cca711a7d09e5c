import type { Address } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { decimalAmount } from '../decimal-amount.ts';
import { indexedSchema } from '../indexed-blocks/indexed.ts';
import type { AddressLabel, WalletTransfer } from './get-wallet-token-transfers.ts';

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
export function showTransfer(
  wallet: Address,
  walletLabel: AddressLabel,
  transfer: WalletTransfer,
): z.infer<typeof transferSchema> {
  const { token } = transfer;
  const own = { address: wallet, ...walletLabel };
  const other = { address: transfer.counterparty, ...transfer.counterpartyLabel };
  const [from, to] = transfer.direction === 1 ? [other, own] : [own, other];
  return {
    token_name: token.name,
    token_symbol: token.symbol,
    token_logo: token.logo,
    token_decimals: token.decimals?.toString() ?? null,
    from_address_entity: from.entity,
    from_address_entity_logo: from.entityLogo,
    from_address: from.address,
    from_address_label: from.label,
    to_address_entity: to.entity,
    to_address_entity_logo: to.entityLogo,
    to_address: to.address,
    to_address_label: to.label,
    address: token.address,
    block_hash: transfer.blockHash,
    block_number: transfer.blockNumber.toString(),
    block_timestamp: transfer.blockTimestamp.toISOString(),
    transaction_hash: transfer.transactionHash,
    transaction_index: transfer.transactionIndex,
    log_index: transfer.logIndex,
    value: transfer.value,
    value_decimal: token.decimals === null ? null : decimalAmount(transfer.value, token.decimals),
    possible_spam: token.possibleSpam,
    verified_contract: token.verified,
    verified_collection: token.verified,
  };
}
