import { indexedSchema, type PageBlock } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { readDocument } from '../document-object.ts';
import type { NftTrade, TradedDocument } from './trades-page.ts';

const addressText = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const hashText = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '18' });

const tokenMetadataSchema = z
  .object({
    token_id: digits,
    name: z.string().nullable(),
    description: z.string().nullable(),
    image: z.string().nullable().openapi({ description: 'As in the metadata: an https, ipfs, ar or data URI' }),
  })
  .openapi('NftTradeTokenMetadata');

const tradeSchema = z
  .object({
    transaction_hash: hashText,
    transaction_index: digits,
    token_ids: z
      .array(digits)
      .openapi({ description: 'All token IDs of the collection in the trade, in event order' }),
    seller_address: addressText,
    buyer_address: addressText.openapi({
      description: 'Final receiver of the NFT, behind routers and aggregators',
    }),
    token_address: addressText.openapi({ description: 'The NFT contract' }),
    marketplace_address: addressText.openapi({ description: 'The contract that emitted the sale' }),
    price_token_address: addressText.nullable().openapi({ description: 'null if paid in the native token' }),
    price: digits.openapi({
      description:
        'Amount paid for the whole order including fees and royalties, in base units of the payment token',
    }),
    block_timestamp: z.iso.datetime({ precision: 3 }).openapi({ example: '2022-12-06T00:32:11.000Z' }),
    block_number: digits,
    block_hash: hashText,
    verified_collection: z.boolean().openapi({ description: 'true if an imported list contains the collection' }),
    nft_metadata: z.array(tokenMetadataSchema).nullable().optional().openapi({
      description: 'Known metadata of the NFTs. Absent with nft_metadata=false',
    }),
  })
  .openapi('NftTrade');

/** docs/api/nfts.md#nft-trades */
export const tradesSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(tradeSchema),
  })
  .openapi('NftTrades');

export function showTrade(
  row: NftTrade,
  { block_hash }: PageBlock,
  documents: readonly TradedDocument[] | null | undefined,
): z.infer<typeof tradeSchema> {
  const shown: z.infer<typeof tradeSchema> = {
    transaction_hash: row.transaction_hash,
    transaction_index: String(row.transaction_index),
    token_ids: row.token_ids,
    seller_address: row.seller,
    buyer_address: row.buyer,
    token_address: row.token_address,
    marketplace_address: row.marketplace_address,
    price_token_address: row.payment_token,
    price: row.price,
    block_timestamp: row.block_timestamp,
    block_number: String(row.block_number),
    block_hash,
    verified_collection: row.verified,
  };
  if (documents !== undefined) shown.nft_metadata = documents?.flatMap(showMetadata) ?? null;
  return shown;
}

function showMetadata({ token_id, document }: TradedDocument): z.infer<typeof tokenMetadataSchema>[] {
  const fields = readDocument(document)?.fields;
  if (fields === undefined) return [];
  const text = (...names: readonly string[]): string | null =>
    names.map((name) => fields[name]).find((value) => typeof value === 'string') ?? null;
  return [{ token_id, name: text('name'), description: text('description'), image: text('image', 'image_url') }];
}
