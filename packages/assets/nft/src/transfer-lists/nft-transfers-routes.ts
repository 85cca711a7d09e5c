import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { type Indexed, inside, type RouteModule, routesFor, view, wire, withServices } from '@chainstead/http';
import { type NodeReadQueue, type ReadingContext, transactionFactsOf } from '@chainstead/node-reads/requests';
import { areTablesSpread, ITEM_ORDER } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import { z } from '@hono/zod-openapi';
import {
  contractType,
  formatParameter,
  includeParameter,
  TO_BLOCK_AS_TEXT,
  type TokenIdFormat,
  tokenId,
} from '../routes.ts';
import { getLastSalesOfTokens, type LastSale } from '../sale-prices/get-last-sales.ts';
import { saleView } from '../sale-prices/sale-prices-route.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import {
  type NftTransferItem,
  type NftTransfersPage,
  type NftTransfersQuery,
  type NftTransfersSubject,
  nftTransfersPage,
} from './nft-transfers-page.ts';

const { address, count, digits, flag, hash, moment, text } = wire;

interface ShownTransfer extends NftTransferItem {
  readonly format: TokenIdFormat;
  /** Wei carried by its transaction; null while unknown. */
  readonly value: string | null;
  /** Undefined if prices were not requested. */
  readonly lastSale: LastSale | undefined;
}

function transferOf(row: ShownTransfer, page: NftTransfersPage) {
  return {
    ...row,
    block: page.blockOf(row),
    contract: page.contractOf(row.token_address),
    sender: page.labelOf(row.from),
    recipient: page.labelOf(row.to),
  };
}

/** docs/api/nfts.md#nft-transfers */
export const nftTransferView = view('NftTransfer', transferOf, {
  token_address: address('The NFT contract'),
  token_id: tokenId('Format as set by format', ({ token_id: id, format }) => ({ id, format })),
  last_token_id: tokenId.orAbsent(
    'Last token ID of a large range mint (ERC-2309). token_id is the first one',
    ({ last_token_id: id, format }) => (id === null ? null : { id, format }),
  ),
  token_name: text.orNull(
    'Name of the contract. null until it is known, as for token_symbol',
    ({ contract }) => contract.name,
  ),
  token_symbol: text.orNull(({ contract }) => contract.symbol),
  contract_type: contractType.orNull(({ contract }) => contract.contractType),
  transaction_type: wire.wire(z.enum(['Single', 'Batch']))(
    'Batch: several NFTs of one TransferBatch event',
    ({ kind }) => (kind === NFT_TRANSFER_KINDS.erc1155Batch ? 'Batch' : 'Single'),
  ),
  from_address_entity: text.orNull(({ sender }) => sender.entity),
  from_address_entity_logo: text.orNull(({ sender }) => sender.entityLogo),
  from_address: address('The zero address for a mint', ({ from }) => from),
  from_address_label: text.orNull(({ sender }) => sender.label),
  to_address_entity: text.orNull(({ recipient }) => recipient.entity),
  to_address_entity_logo: text.orNull(({ recipient }) => recipient.entityLogo),
  to_address: address('The zero address for a burn', ({ to }) => to),
  to_address_label: text.orNull(({ recipient }) => recipient.label),
  amount: digits('1 for ERC-721'),
  value: digits.orNull('Value of the transaction in wei. null until it is read'),
  operator: address.orNull('Operator of the transfer, if the event contains it (ERC-1155)'),
  block_number: digits((transfer) => String(transfer.block_number)),
  block_timestamp: moment(({ block }) => block.block_timestamp),
  block_hash: hash(({ block }) => block.block_hash),
  transaction_hash: hash(),
  transaction_index: count(),
  log_index: count(),
  possible_spam: flag(({ contract }) => contract.possibleSpam),
  verified_collection: flag(
    'true if an imported list contains the collection',
    ({ contract }) => contract.verified,
  ),
  last_sale: inside(saleView).ifRequested(
    'Last sale of the NFT paid in ether within a year. null if there is none. Only with include_prices',
    ({ lastSale }) => lastSale,
  ),
});

interface NftTransfersServices {
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet' | 'requestContract'>;
  readonly nodeReads: NodeReadQueue;
}

const { defineListRoute } = routesFor<NftTransfersServices>();

const TRANSFERS = {
  tag: 'NFTs',
  name: 'NftTransfers',
  response: 'A page of NFT transfers',
  datasets: [nftTransfers.name],
  position: ITEM_ORDER.position,
  firstPage: 0,
  view: nftTransferView,
} as const;

const QUERY = [
  'chain',
  { format: formatParameter('Format of token IDs in the response.') },
  'limit',
  'order',
  'cursor',
  { include_prices: includeParameter('Adds last_sale, the last sale of the NFT paid in ether within a year.') },
] as const;

const PAGING_TEXT = 'Use `cursor` for the next page; new rows never shift pages.';

const walletTransfersRoute = defineListRoute({
  ...TRANSFERS,
  path: '/api/v2.2/{address}/nft/transfers',
  operationId: 'getWalletNFTTransfers',
  summary: 'List NFT transfers by wallet',
  description: `NFTs sent or received by a wallet, by block number, newest first by default. With \`contract_addresses\`, a page may be short: only a null \`cursor\` marks the last page. ${PAGING_TEXT}`,
  params: ['address'],
  query: [...QUERY, 'blockBounds', TO_BLOCK_AS_TEXT, { contract_addresses: 'addresses' }],
  indexes: ['nft_transfers_by_sender', 'nft_transfers_by_recipient'],
  read: ({ address: wallet, contract_addresses: contracts = null, ...given }) =>
    readTransfers(given, { kind: 'wallet', wallet, contracts }),
  row: (row, { page }) => [row, page],
  fields: withCompleteness,
});

const collectionTransfersRoute = defineListRoute({
  ...TRANSFERS,
  path: '/api/v2.2/nft/{address}/transfers',
  operationId: 'getNFTContractTransfers',
  summary: 'List NFT transfers by collection',
  description: `Transfers of all NFTs of a collection, by block number, newest first by default. ${PAGING_TEXT}`,
  params: ['address'],
  query: [...QUERY, 'blockBounds'],
  read: ({ address: token, ...given }) => readTransfers(given, { kind: 'collection', token }),
  row: (row, { page }) => [row, page],
  fields: withCompleteness,
});

const tokenTransfersRoute = defineListRoute({
  ...TRANSFERS,
  path: '/api/v2.2/nft/{address}/{token_id}/transfers',
  operationId: 'getNFTTransfers',
  summary: 'List transfers of an NFT',
  description: `Transfers of one NFT, by block number, newest first by default, including range mints that contain it. ${PAGING_TEXT}`,
  params: ['address', { token_id: 'tokenId' }],
  query: QUERY,
  indexes: ['nft_transfers_by_token', 'nft_transfers_by_range'],
  read: ({ address: token, token_id: tokenId, ...given }) =>
    readTransfers(given, { kind: 'token', token, tokenId }),
  row: (row, { page }) => [row, page],
  fields: withCompleteness,
});

export function nftTransfersRoutes(services: NftTransfersServices): readonly RouteModule[] {
  return [withServices(services, [walletTransfersRoute, collectionTransfersRoute, tokenTransfersRoute])];
}

interface RequestedTransfers extends Omit<ReadingContext, 'nodeReads'> {
  readonly reads: ReadDatabase;
  readonly services: NftTransfersServices;
  readonly chain: Chain;
  readonly requester: string;
  readonly query: Omit<NftTransfersQuery, 'subject'>;
  readonly format: TokenIdFormat;
  readonly include_prices: boolean;
}

async function readTransfers(
  { database, reads, logger, services, chain, requester, query, ...wishes }: RequestedTransfers,
  subject: NftTransfersSubject,
) {
  const { onDemandBackfill, nodeReads } = services;
  const isSpread = await areTablesSpread(reads);
  const page = await nftTransfersPage(chain, { ...query, subject }, { isSpread }).read(reads);
  const { indexed, next } = page;
  const hashes = [...new Set(page.rows.map((row) => row.transaction_hash))];
  const facts = await transactionFactsOf({ database: reads, nodeReads, logger }, chain, hashes);
  // In the list of one token, a mint of a range shows the token alone.
  const items = page.rows.map((row) =>
    subject.kind === 'token' ? { ...row, token_id: subject.tokenId, last_token_id: null } : row,
  );
  const tokens = items.map((row) => ({ token: row.token_address, tokenId: row.token_id }));
  const sales = wishes.include_prices ? await getLastSalesOfTokens(reads, chain, tokens) : null;
  if (!indexed.complete) {
    const context = { database, logger };
    await (subject.kind === 'wallet'
      ? onDemandBackfill.requestWallet(context, chain, subject.wallet, requester)
      : onDemandBackfill.requestContract(context, chain, subject.token, requester));
  }
  const rows = items.map(
    (row): ShownTransfer => ({
      ...row,
      format: wishes.format,
      value: facts.get(row.transaction_hash)?.value ?? null,
      lastSale: sales?.({ token: row.token_address, tokenId: row.token_id }),
    }),
  );
  return { rows, page, indexed, next };
}

function withCompleteness<Standard extends object>(standard: Standard) {
  return {
    ...standard,
    block_exists: flag('Always true', () => true),
    index_complete: flag(
      'Same as indexed.complete',
      ({ found }: { readonly found: { readonly indexed: Indexed } }) => found.indexed.complete,
    ),
  };
}

/** The first entry of an index, in each partition. Queues nothing. */
export async function hasNftTransfers(database: ReadDatabase, chain: Chain, account: Address): Promise<boolean> {
  for (const side of [rawSql('from_address'), rawSql('to_address')]) {
    const rows = await database.select(
      sql`SELECT block_number FROM nft_transfers
       WHERE chain_id = ${chain.id} AND address_key(${side}) = ${addressKey(account)}::bigint AND ${expectedTrue(sql`${side} = ${addressBytes(account)}`)}
       ORDER BY block_number DESC, transaction_index DESC, log_index DESC, item DESC LIMIT 1`,
    );
    if (rows.length > 0) return true;
  }
  return false;
}
