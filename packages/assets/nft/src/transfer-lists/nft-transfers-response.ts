import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { LastSale } from '../sale-prices/get-last-sales.ts';
import { salePricesSchema } from '../sale-prices/sale-prices-response.ts';
import type { NftTransferItem, NftTransfersPage } from './nft-transfers-page.ts';

const addressText = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const hashText = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '18' });
const tokenId = z.string().openapi({ pattern: '^([0-9]+|0x[0-9a-f]+)$', example: '7781' });

const nftTransferSchema = z
  .object({
    token_address: addressText.openapi({ description: 'The NFT contract' }),
    token_id: tokenId.openapi({ description: 'Format as set by format' }),
    last_token_id: tokenId.optional().openapi({
      description: 'Last token ID of a large range mint (ERC-2309). token_id is the first one',
    }),
    token_name: z
      .string()
      .nullable()
      .openapi({ description: 'Name of the contract. null until it is known, as for token_symbol' }),
    token_symbol: z.string().nullable(),
    contract_type: z.enum(['ERC721', 'ERC1155']).nullable(),
    transaction_type: z
      .enum(['Single', 'Batch'])
      .openapi({ description: 'Batch: several NFTs of one TransferBatch event' }),
    from_address_entity: z.string().nullable(),
    from_address_entity_logo: z.string().nullable(),
    from_address: addressText.openapi({ description: 'The zero address for a mint' }),
    from_address_label: z.string().nullable(),
    to_address_entity: z.string().nullable(),
    to_address_entity_logo: z.string().nullable(),
    to_address: addressText.openapi({ description: 'The zero address for a burn' }),
    to_address_label: z.string().nullable(),
    amount: digits.openapi({ description: '1 for ERC-721' }),
    value: digits.nullable().openapi({
      description: 'Value of the transaction in wei. null until it is read',
    }),
    operator: addressText
      .nullable()
      .openapi({ description: 'Operator of the transfer, if the event contains it (ERC-1155)' }),
    block_number: digits,
    block_timestamp: z.iso.datetime({ precision: 3 }).openapi({ example: '2022-11-19T20:01:23.000Z' }),
    block_hash: hashText,
    transaction_hash: hashText,
    transaction_index: z.int().min(0),
    log_index: z.int().min(0),
    possible_spam: z.boolean(),
    verified_collection: z.boolean().openapi({ description: 'true if an imported list contains the collection' }),
    last_sale: salePricesSchema.shape.last_sale.optional().openapi({
      description:
        'Last sale of the NFT paid in ether within a year. null if there is none. Only with include_prices',
    }),
  })
  .openapi('NftTransfer');

/** docs/api/nfts.md#nft-transfers */
export const nftTransfersSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(nftTransferSchema),
    block_exists: z.boolean().openapi({ description: 'Always true' }),
    index_complete: z.boolean().openapi({ description: 'Same as indexed.complete' }),
  })
  .openapi('NftTransfers');

export interface NftTransferShowing {
  readonly format: 'decimal' | 'hex';
  /** The id in the list of one token, also for a mint of a range; otherwise null. */
  readonly tokenId: string | null;
  /** Wei carried by its transaction; null while unknown. */
  readonly value: string | null;
  /** Undefined if prices were not requested. */
  readonly lastSale: LastSale | undefined;
}

export function showNftTransfer(
  row: NftTransferItem,
  page: NftTransfersPage,
  { format, tokenId: shownId, value, lastSale }: NftTransferShowing,
): z.infer<typeof nftTransferSchema> {
  const block = page.blockOf(row);
  const contract = page.contractOf(row.token_address);
  const [from, to] = [page.labelOf(row.from), page.labelOf(row.to)];
  return {
    token_address: row.token_address,
    token_id: showId(shownId ?? row.token_id, format),
    ...(shownId === null && row.last_token_id !== null && { last_token_id: showId(row.last_token_id, format) }),
    token_name: contract.name,
    token_symbol: contract.symbol,
    contract_type: contract.contractType,
    transaction_type: row.kind === NFT_TRANSFER_KINDS.erc1155Batch ? 'Batch' : 'Single',
    from_address_entity: from.entity,
    from_address_entity_logo: from.entityLogo,
    from_address: row.from,
    from_address_label: from.label,
    to_address_entity: to.entity,
    to_address_entity_logo: to.entityLogo,
    to_address: row.to,
    to_address_label: to.label,
    amount: row.amount,
    value,
    operator: row.operator,
    block_number: String(row.block_number),
    block_timestamp: block.block_timestamp,
    block_hash: block.block_hash,
    transaction_hash: row.transaction_hash,
    transaction_index: row.transaction_index,
    log_index: row.log_index,
    possible_spam: contract.possibleSpam,
    verified_collection: contract.verified,
    ...(lastSale !== undefined && { last_sale: lastSale }),
  };
}

function showId(id: string, format: 'decimal' | 'hex'): string {
  return format === 'decimal' ? id : `0x${BigInt(id).toString(16)}`;
}
