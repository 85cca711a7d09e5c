import { indexedSchema } from '@chainstead/answers';
import { z } from '@hono/zod-openapi';
import type { TokenDocument, TradeRow } from './get-trades.ts';

const addressText = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const hashText = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '18' });

const tokenMetadataSchema = z
  .object({
    token_id: digits,
    name: z.string().nullable(),
    description: z.string().nullable(),
    image: z.string().nullable().openapi({ description: 'As the document says it: https, ipfs, ar or data URI' }),
  })
  .openapi('NftTradeTokenMetadata');

const tradeSchema = z
  .object({
    transaction_hash: hashText,
    transaction_index: digits,
    token_ids: z.array(digits).openapi({ description: "All ids of the collection in the trade, in the event's order" }),
    seller_address: addressText,
    buyer_address: addressText.openapi({ description: 'Who ends up with the token, behind routers and aggregators' }),
    token_address: addressText.openapi({ description: 'The NFT contract' }),
    marketplace_address: addressText.openapi({ description: 'The contract that emitted the sale' }),
    price_token_address: addressText.nullable().openapi({ description: "null: paid in the chain's native currency" }),
    price: digits.openapi({
      description:
        "What the buyer paid for the whole order, fees and royalties included, in the payment token's smallest unit",
    }),
    block_timestamp: z.iso.datetime({ precision: 3 }).openapi({ example: '2022-12-06T00:32:11.000Z' }),
    block_number: digits,
    block_hash: hashText,
    verified_collection: z.boolean().openapi({ description: 'Named by an imported list' }),
    nft_metadata: z.array(tokenMetadataSchema).nullable().optional().openapi({
      description: "What the tokens' documents say, as far as they were read; absent for nft_metadata=false",
    }),
  })
  .openapi('NftTrade');

/** The answer of the trades routes (docs/provider-contract.md#nft-trades). */
export const tradesSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'From 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
    indexed: indexedSchema,
    result: z.array(tradeSchema),
  })
  .openapi('NftTrades');

/** One row of the answer. Everything that is a number is text here. */
export function showTrade(
  row: TradeRow,
  { withMetadata }: { readonly withMetadata: boolean },
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
    block_hash: row.block_hash,
    verified_collection: row.verified,
  };
  if (withMetadata) shown.nft_metadata = row.metadata?.flatMap(showMetadata) ?? null;
  return shown;
}

/** Nothing for a document that is no JSON object. */
function showMetadata({ token_id, document }: TokenDocument): z.infer<typeof tokenMetadataSchema>[] {
  const fields = parseObject(document);
  if (fields === null) return [];
  const text = (...names: readonly string[]): string | null =>
    names.map((name) => fields[name]).find((value) => typeof value === 'string') ?? null;
  return [{ token_id, name: text('name'), description: text('description'), image: text('image', 'image_url') }];
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
