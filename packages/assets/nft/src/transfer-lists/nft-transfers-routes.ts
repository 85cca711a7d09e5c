import type { Chain } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import { addressBytes, expectedTrue, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import {
  type ApiApp,
  type ApiDependencies,
  blockBoundsSchema,
  booleanParameter,
  chainQueryOf,
  defineListRoute,
  givenBlockBounds,
  type ListQueryShape,
  type ListRequest,
  querySchema,
  type RouteModule,
  requireIndexes,
  textParameter,
} from '@chainstead/http';
import { type NodeReadQueue, transactionFactsOf } from '@chainstead/node-reads/requests';
import { areTablesSpread, createMissingIndexes, ITEM_ORDER, showIndexed } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import { z } from '@hono/zod-openapi';
import { getLastSalesOfTokens } from '../sale-prices/get-last-sales.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import {
  INDEXES_OF,
  type NftTransferItem,
  type NftTransfersSubject,
  nftTransfersPage,
} from './nft-transfers-page.ts';
import { nftTransfersSchema, showNftTransfer } from './nft-transfers-response.ts';

interface NftTransfersOptions {
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet' | 'requestContract'>;
  readonly nodeReads: NodeReadQueue;
}

const PAGING_TEXT = 'Use `cursor` for the next page; new rows never shift pages.';

/** docs/api/nfts.md#nft-transfers */
export function nftTransfersRoutes(options: NftTransfersOptions): readonly RouteModule[] {
  return [
    (app, dependencies) => {
      const { parameters } = dependencies;
      addTransfersRoute(app, dependencies, options, 'wallet', {
        path: '/api/v2.2/{address}/nft/transfers',
        operationId: 'getWalletNFTTransfers',
        summary: 'List NFT transfers by wallet',
        description: `NFTs sent or received by a wallet, by block number, newest first by default. With \`contract_addresses\`, a page may be short: only a null \`cursor\` marks the last page. ${PAGING_TEXT}`,
        params: z.object({ address: parameters.address }),
        query: querySchema(
          {
            ...commonQuery(parameters),
            ...parameters.blockBounds,
            to_block: parameters.toBlock.openapi({ type: 'string', pattern: '^[0-9]+$' }),
          },
          { contract_addresses: parameters.addresses },
        ),
        cursorName: 'wallet-nft-transfers',
        filterOf: ({ address, contract_addresses, ...given }) => ({
          ...{ address, contract_addresses },
          ...commonFilter(given),
          ...givenBlockBounds(given),
        }),
      });
    },
    (app, dependencies) => {
      const { parameters } = dependencies;
      addTransfersRoute(app, dependencies, options, 'collection', {
        path: '/api/v2.2/nft/{address}/transfers',
        operationId: 'getNFTContractTransfers',
        summary: 'List NFT transfers by collection',
        description: `Transfers of all NFTs of a collection, by block number, newest first by default. ${PAGING_TEXT}`,
        params: z.object({ address: parameters.address }),
        query: querySchema({ ...commonQuery(parameters), ...parameters.blockBounds }),
        cursorName: 'collection-nft-transfers',
        filterOf: ({ address, ...given }) => ({ address, ...commonFilter(given), ...givenBlockBounds(given) }),
      });
    },
    (app, dependencies) => {
      const { parameters } = dependencies;
      addTransfersRoute(app, dependencies, options, 'token', {
        path: '/api/v2.2/nft/{address}/{token_id}/transfers',
        operationId: 'getNFTTransfers',
        summary: 'List transfers of an NFT',
        description: `Transfers of one NFT, by block number, newest first by default, including range mints that contain it. ${PAGING_TEXT}`,
        params: z.object({ address: parameters.address, token_id: parameters.tokenId }),
        query: querySchema(commonQuery(parameters)),
        cursorName: 'token-nft-transfers',
        filterOf: ({ address, token_id, ...given }) => ({ address, token_id, ...commonFilter(given) }),
      });
    },
  ];
}

const FORMATS = ['decimal', 'hex'] as const;

function commonQuery(parameters: ApiDependencies['parameters']) {
  return {
    chain: parameters.chain,
    format: textParameter('decimal or hex', (text) => FORMATS.find((format) => format === text.toLowerCase()))
      .optional()
      .openapi({
        type: 'string',
        enum: [...FORMATS],
        default: 'decimal',
        description: 'Format of token IDs in the response.',
      }),
    limit: parameters.limit,
    order: parameters.order,
    cursor: parameters.cursor,
    include_prices: booleanParameter({
      default: false,
      description: 'Adds last_sale, the last sale of the NFT paid in ether within a year.',
    }),
  };
}

function commonFilter({ chain, format, include_prices }: z.infer<z.ZodObject<ReturnType<typeof commonQuery>>>) {
  return { chain: chain?.key, format, include_prices };
}

const filterSchema = z.object({
  address: z.string(),
  token_id: z.string().default(''),
  contract_addresses: z.array(z.string()).readonly().nullable().default(null),
  chain: z.string().default('eth'),
  ...blockBoundsSchema,
  format: z.enum(FORMATS).default('decimal'),
  include_prices: z.boolean().default(false),
});
type Filter = z.infer<typeof filterSchema>;

function addTransfersRoute<Params extends z.core.$ZodShape, Query extends ListQueryShape>(
  app: ApiApp,
  dependencies: ApiDependencies,
  { onDemandBackfill, nodeReads }: NftTransfersOptions,
  kind: NftTransfersSubject['kind'],
  request: ListRequest<Params, Query, Filter>,
): void {
  const { database, logger, reads } = dependencies;
  const missing = createMissingIndexes(reads, systemClock, INDEXES_OF[kind]);
  const ask = kind === 'wallet' ? onDemandBackfill.requestWallet : onDemandBackfill.requestContract;
  defineListRoute(app, dependencies, {
    ...request,
    tags: ['NFTs'],
    response: { description: 'A page of NFT transfers', schema: nftTransfersSchema },
    datasets: [nftTransfers.name],
    filter: filterSchema,
    position: z.object(ITEM_ORDER.fields),
    firstPage: 0,
    read: async (page) => {
      const { chain, filter, requester } = page;
      requireIndexes(await missing());
      const query = { ...chainQueryOf(page), subject: subjectOf(filter, kind) };
      const list = await nftTransfersPage(chain, query, { isSpread: await areTablesSpread(reads) }).read(reads);
      const hashes = [...new Set(list.rows.map((row) => row.transaction_hash))];
      const facts = await transactionFactsOf({ database: reads, nodeReads, logger }, chain, hashes);
      const tokens = list.rows.map((row) => tokenOf(row, filter, kind));
      const sales = filter.include_prices ? await getLastSalesOfTokens(reads, chain, tokens) : null;
      if (!list.indexed.complete) await ask({ database, logger }, chain, filter.address as Address, requester);
      return { list, facts, sales, next: list.next };
    },
    present: ({ list, facts, sales }, envelope, { filter }) => ({
      ...envelope,
      indexed: showIndexed(list.indexed),
      result: list.rows.map((row) =>
        showNftTransfer(row, list, {
          format: filter.format,
          tokenId: kind === 'token' ? filter.token_id : null,
          value: facts.get(row.transaction_hash)?.value ?? null,
          lastSale: sales === null ? undefined : sales(tokenOf(row, filter, kind)),
        }),
      ),
      block_exists: true,
      index_complete: list.indexed.complete,
    }),
  });
}

function tokenOf(row: NftTransferItem, filter: Filter, kind: NftTransfersSubject['kind']) {
  return { token: row.token_address, tokenId: kind === 'token' ? filter.token_id : row.token_id };
}

function subjectOf(filter: Filter, kind: NftTransfersSubject['kind']): NftTransfersSubject {
  const address = filter.address as Address;
  switch (kind) {
    case 'wallet':
      return { kind, wallet: address, contracts: filter.contract_addresses as readonly Address[] | null };
    case 'collection':
      return { kind, token: address };
    case 'token':
      return { kind, token: address, tokenId: filter.token_id };
  }
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
