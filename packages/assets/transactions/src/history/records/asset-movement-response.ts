import { type Address, decimalAmount } from '@chainstead/core';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { normalizedMetadataSchema } from '@chainstead/nft/requests';
import { z } from '@hono/zod-openapi';
import { type CoinLeg, isGiven, type TokenLeg } from '../classification/classification-features.ts';
import type { ShownNftLeg } from '../page/read-asset-movements.ts';
import type { RelatedToHistory } from '../page/related-to-history.ts';

const address = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const text = z.string().nullable();
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '5000000' });
const direction = z
  .enum(['send', 'receive'])
  .openapi({ description: 'Transfers to oneself are send, except deposits from the parent chain' });

const partiesShape = {
  from_address: address,
  from_address_entity: text,
  from_address_entity_logo: text,
  from_address_label: text,
  to_address: address,
  to_address_entity: text,
  to_address_entity_logo: text,
  to_address_label: text,
};

export const erc20LegSchema = z
  .object({
    token_name: text,
    token_symbol: text,
    token_logo: text,
    token_decimals: text.openapi({ description: 'Decimal digits. null until they are known' }),
    address: address.openapi({ description: 'The token contract' }),
    block_timestamp: z.string(),
    ...partiesShape,
    value: digits,
    value_formatted: text.openapi({ description: 'Exact amount. null until the decimals are known' }),
    transaction_index: z.int(),
    log_index: z.int(),
    possible_spam: z.boolean(),
    verified_contract: z.boolean(),
    direction,
    security_score: z.null(),
  })
  .openapi('HistoryErc20Transfer');

export const nftLegSchema = z
  .object({
    token_address: address,
    token_id: digits,
    token_name: text,
    token_symbol: text,
    ...partiesShape,
    value: digits.openapi({ description: 'Value of the transaction in wei' }),
    amount: digits.openapi({ description: '1 for ERC-721' }),
    contract_type: z.enum(['ERC721', 'ERC1155']),
    transaction_type: z.enum(['Single', 'Batch']),
    log_index: z.int(),
    operator: address.nullable(),
    possible_spam: z.boolean(),
    verified: z.boolean(),
    verified_collection: z.boolean(),
    direction,
    collection_logo: text,
    collection_banner_image: text,
    normalized_metadata: normalizedMetadataSchema.optional().openapi({ description: 'Only with nft_metadata' }),
  })
  .openapi('HistoryNftTransfer');

export const nativeLegSchema = z
  .object({
    ...partiesShape,
    value: digits,
    value_formatted: z.string(),
    direction,
    internal_transaction: z.boolean().openapi({ description: 'true if an internal call moved it' }),
    token_symbol: z.string().openapi({ example: 'ETH' }),
    token_logo: z.null(),
  })
  .openapi('HistoryNativeTransfer');

export interface LegContext {
  readonly wallet: Address;
  readonly related: RelatedToHistory;
  readonly timestamp: string;
  readonly transactionIndex: number;
  readonly value: string;
  readonly coin: { readonly symbol: string; readonly decimals: number };
}

export function showErc20Leg(leg: TokenLeg, context: LegContext): z.infer<typeof erc20LegSchema> {
  const token = context.related.tokenOf(leg.token);
  const value = leg.value.toString();
  return {
    token_name: token.name,
    token_symbol: token.symbol,
    token_logo: token.logo,
    token_decimals: token.decimals === null ? null : String(token.decimals),
    address: leg.token,
    block_timestamp: context.timestamp,
    ...showParties(leg, context),
    value,
    value_formatted: token.decimals === null ? null : decimalAmount(value, token.decimals),
    transaction_index: context.transactionIndex,
    log_index: leg.logIndex,
    possible_spam: token.possibleSpam,
    verified_contract: token.verified,
    direction: directionOf(leg, context),
    security_score: null,
  };
}

export function showNftLeg(
  leg: ShownNftLeg,
  context: LegContext,
  withMetadata: boolean,
): z.infer<typeof nftLegSchema> {
  const collection = context.related.collectionOf(leg.token);
  const metadata = withMetadata ? context.related.metadataOf(leg.token, leg.tokenId) : null;
  return {
    token_address: leg.token,
    token_id: leg.tokenId,
    token_name: collection.name,
    token_symbol: collection.symbol,
    ...showParties(leg, context),
    value: context.value,
    amount: leg.amount.toString(),
    contract_type: MULTI_TOKEN_KINDS.has(leg.kind) ? 'ERC1155' : 'ERC721',
    transaction_type: leg.kind === NFT_TRANSFER_KINDS.erc1155Batch ? 'Batch' : 'Single',
    log_index: leg.logIndex,
    operator: leg.operator,
    possible_spam: collection.possibleSpam,
    verified: collection.verified,
    verified_collection: collection.verified,
    direction: directionOf(leg, context),
    collection_logo: collection.logo,
    collection_banner_image: collection.banner,
    ...(metadata !== null && { normalized_metadata: metadata }),
  };
}

const MULTI_TOKEN_KINDS: ReadonlySet<number> = new Set([
  NFT_TRANSFER_KINDS.erc1155Single,
  NFT_TRANSFER_KINDS.erc1155Batch,
]);

export function showNativeLeg(leg: CoinLeg, context: LegContext): z.infer<typeof nativeLegSchema> {
  const value = leg.value.toString();
  return {
    ...showParties(leg, context),
    value,
    value_formatted: decimalAmount(value, context.coin.decimals),
    direction: directionOf(leg, context),
    internal_transaction: leg.isInternal,
    token_symbol: context.coin.symbol,
    token_logo: null,
  };
}

type Sides = Pick<CoinLeg, 'from' | 'to' | 'isMinted'>;

function directionOf(leg: Sides, { wallet }: LegContext): 'send' | 'receive' {
  return isGiven(leg, wallet) ? 'send' : 'receive';
}

function showParties({ from, to }: Sides, { related }: LegContext) {
  const [sender, receiver] = [related.labelOf(from), related.labelOf(to)];
  return {
    from_address: from,
    from_address_entity: sender.entity,
    from_address_entity_logo: sender.entityLogo,
    from_address_label: sender.label,
    to_address: to,
    to_address_entity: receiver.entity,
    to_address_entity_logo: receiver.entityLogo,
    to_address_label: receiver.label,
  };
}
