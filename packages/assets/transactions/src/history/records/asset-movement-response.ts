import { type Address, decimalAmount } from '@chainstead/core';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { view, wire } from '@chainstead/http';
import { normalizedMetadataSchema } from '@chainstead/nft/requests';
import { z } from '@hono/zod-openapi';
import { type CoinLeg, isGiven, type TokenLeg } from '../classification/classification-features.ts';
import type { ShownNftLeg } from '../page/read-asset-movements.ts';
import type { RelatedToHistory } from '../page/related-to-history.ts';

/** What the legs of a transaction have in common. */
export interface LegContext {
  readonly wallet: Address;
  readonly related: RelatedToHistory;
  readonly timestamp: string;
  readonly transactionIndex: number;
  readonly value: string;
  readonly coin: { readonly symbol: string; readonly decimals: number };
  readonly withMetadata: boolean;
}

type InTransaction<Leg> = Leg & { readonly context: LegContext };

function partiesOf<Leg extends Pick<CoinLeg, 'from' | 'to' | 'isMinted'>>(leg: InTransaction<Leg>) {
  const { wallet, related } = leg.context;
  return {
    ...leg,
    sender: related.labelOf(leg.from),
    receiver: related.labelOf(leg.to),
    direction: isGiven(leg, wallet) ? ('send' as const) : ('receive' as const),
  };
}

type Parties = ReturnType<typeof partiesOf>;

const { address, flag, integer, text } = wire;
const nothing = wire.wire(z.null());
/** A number of any length in decimal. */
const amount = wire.wire(z.string().openapi({ pattern: '^[0-9]+$', example: '5000000' }), String);

const partiesFields = {
  from_address: address.of('from'),
  from_address_entity: text.orNull(({ sender }) => sender.entity),
  from_address_entity_logo: text.orNull(({ sender }) => sender.entityLogo),
  from_address_label: text.orNull(({ sender }) => sender.label),
  to_address: address.of('to'),
  to_address_entity: text.orNull(({ receiver }) => receiver.entity),
  to_address_entity_logo: text.orNull(({ receiver }) => receiver.entityLogo),
  to_address_label: text.orNull(({ receiver }) => receiver.label),
} satisfies wire.Fields<Parties>;

const direction = wire.wire(z.enum(['send', 'receive']))(
  'Transfers to oneself are send, except deposits from the parent chain',
);

export const erc20LegView = view(
  'HistoryErc20Transfer',
  (leg: InTransaction<TokenLeg>) => ({ ...partiesOf(leg), facts: leg.context.related.tokenOf(leg.token) }),
  {
    token_name: text.orNull(({ facts }) => facts.name),
    token_symbol: text.orNull(({ facts }) => facts.symbol),
    token_logo: text.orNull(({ facts }) => facts.logo),
    token_decimals: text.orNull(
      'Decimal digits. null until they are known',
      ({ facts }) => facts.decimals?.toString() ?? null,
    ),
    address: address('The token contract', 'token'),
    block_timestamp: text(({ context }) => context.timestamp),
    ...partiesFields,
    value: amount(),
    value_formatted: text.orNull('Exact amount. null until the decimals are known', ({ value, facts }) =>
      facts.decimals === null ? null : decimalAmount(value.toString(), facts.decimals),
    ),
    transaction_index: integer(({ context }) => context.transactionIndex),
    log_index: integer.of('logIndex'),
    possible_spam: flag(({ facts }) => facts.possibleSpam),
    verified_contract: flag(({ facts }) => facts.verified),
    direction,
    security_score: nothing(() => null),
  },
);

const MULTI_TOKEN_KINDS: ReadonlySet<number> = new Set([
  NFT_TRANSFER_KINDS.erc1155Single,
  NFT_TRANSFER_KINDS.erc1155Batch,
]);

export const nftLegView = view(
  'HistoryNftTransfer',
  (leg: InTransaction<ShownNftLeg>) => ({
    ...partiesOf(leg),
    collection: leg.context.related.collectionOf(leg.token),
  }),
  {
    token_address: address.of('token'),
    token_id: amount.of('tokenId'),
    token_name: text.orNull(({ collection }) => collection.name),
    token_symbol: text.orNull(({ collection }) => collection.symbol),
    ...partiesFields,
    value: amount('Value of the transaction in wei', ({ context }) => context.value),
    amount: amount('1 for ERC-721'),
    contract_type: wire.wire(z.enum(['ERC721', 'ERC1155']))(({ kind }) =>
      MULTI_TOKEN_KINDS.has(kind) ? 'ERC1155' : 'ERC721',
    ),
    transaction_type: wire.wire(z.enum(['Single', 'Batch']))(({ kind }) =>
      kind === NFT_TRANSFER_KINDS.erc1155Batch ? 'Batch' : 'Single',
    ),
    log_index: integer.of('logIndex'),
    operator: address.orNull(),
    possible_spam: flag(({ collection }) => collection.possibleSpam),
    verified: flag(({ collection }) => collection.verified),
    verified_collection: flag(({ collection }) => collection.verified),
    direction,
    collection_logo: text.orNull(({ collection }) => collection.logo),
    collection_banner_image: text.orNull(({ collection }) => collection.banner),
    normalized_metadata: wire
      .wire(normalizedMetadataSchema)
      .orAbsent('Only with nft_metadata', ({ token, tokenId, context: { withMetadata, related } }) =>
        withMetadata ? related.metadataOf(token, tokenId) : null,
      ),
  },
);

export const nativeLegView = view('HistoryNativeTransfer', (leg: InTransaction<CoinLeg>) => partiesOf(leg), {
  ...partiesFields,
  value: amount(),
  value_formatted: text(({ value, context: { coin } }) => decimalAmount(value.toString(), coin.decimals)),
  direction,
  internal_transaction: flag('true if an internal call moved it', 'isInternal'),
  token_symbol: text({ example: 'ETH' }, ({ context: { coin } }) => coin.symbol),
  token_logo: nothing(() => null),
});
