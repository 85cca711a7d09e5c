import { areTablesSpread, createMissingIndexes, showIndexed, type WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import {
  type ApiDependencies,
  blockBoundsSchema,
  boundsOfRows,
  givenBlockBounds,
  indexedChain,
  NO_BLOCK_BOUNDS,
  type Page,
  requireIndexes,
} from '@chainstead/http';
import { type StateQuestions, transactionFactsOf } from '@chainstead/state';
import { z } from '@hono/zod-openapi';
import { getLastSalesOfTokens } from '../sale-prices/get-last-sales.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { getNftTransfers, type NftTransferItem, type NftTransfersPage } from './get-nft-transfers.ts';
import { type nftTransfersSchema, showNftTransfer } from './nft-transfers-response.ts';
import {
  INDEXES_OF,
  type NftTransferKey,
  type NftTransfersQuery,
  type NftTransfersSubject,
} from './nft-transfers-statement.ts';

export interface NftTransfersOptions {
  readonly walletHistory: Pick<WalletHistory, 'requestWallet' | 'requestContract'>;
  readonly questions: StateQuestions;
  /** How long a request waits for what its transactions carried. Milliseconds. */
  readonly waitMs: number;
}

/** A request as its route has read it. What a route does not have is left out. */
type Asked = Parameters<typeof givenBlockBounds>[0] & {
  readonly address: string;
  readonly token_id?: string;
  readonly contract_addresses?: readonly string[] | undefined;
  readonly chain?: Pick<Chain, 'key'> | undefined;
  readonly format?: Filter['format'] | undefined;
  readonly include_prices?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly order?: 'ASC' | 'DESC' | undefined;
  readonly cursor?: string | undefined;
  /** The key that asks. */
  readonly requestedBy: string;
};

const DEFAULT_CHAIN = 'eth';
const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to; parts that a route does not have stay at their defaults. Named as the parameters. */
const filterSchema = z.object({
  address: z.string(),
  token_id: z.string(),
  contract_addresses: z.array(z.string()).readonly().nullable(),
  chain: z.string(),
  ...blockBoundsSchema,
  format: z.enum(['decimal', 'hex']),
  include_prices: z.boolean(),
});
type Filter = z.infer<typeof filterSchema>;

const DEFAULTS: Filter = {
  address: '',
  token_id: '',
  contract_addresses: null,
  chain: DEFAULT_CHAIN,
  ...NO_BLOCK_BOUNDS,
  format: 'decimal',
  include_prices: false,
};

/** Where the next page begins. */
const positionSchema = z.object({ block: z.int(), transaction: z.int(), log: z.int(), item: z.int() });

type TransfersPage = Page<Filter, z.infer<typeof positionSchema>>;

/**
 * Answers the requests of one of the three routes. Where blocks are missing that a page would need, the history of the wallet or of the
 * contract is asked for.
 */
export function answerNftTransfers(
  { chains, database, limits, logger, paging, reads }: ApiDependencies,
  { walletHistory, questions, waitMs }: NftTransfersOptions,
  kind: NftTransfersSubject['kind'],
) {
  const missing = createMissingIndexes(reads, systemClock, INDEXES_OF[kind]);
  const ask = kind === 'wallet' ? walletHistory.requestWallet : walletHistory.requestContract;
  const runs = paging.forRoute({
    route: `${kind}-nft-transfers`,
    filter: filterSchema,
    position: positionSchema,
    defaults: DEFAULTS,
    limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
  });
  return async (asked: Asked): Promise<z.infer<typeof nftTransfersSchema>> => {
    const page = runs.open({
      cursor: asked.cursor,
      limit: asked.limit,
      order: asked.order,
      filter: {
        address: asked.address,
        token_id: asked.token_id,
        contract_addresses: asked.contract_addresses,
        chain: asked.chain?.key,
        format: asked.format,
        include_prices: asked.include_prices,
        ...givenBlockBounds(asked),
      },
    });
    const { filter } = page;
    const chain = indexedChain(chains, filter.chain, nftTransfers.name);
    requireIndexes(await missing());
    const found = await getNftTransfers(reads, chain, readingOf(page, kind), {
      isSpread: await areTablesSpread(reads),
    });
    const hashes = [...new Set(found.transfers.map((row) => row.transaction_hash))];
    const facts = await transactionFactsOf({ database: reads, questions, logger }, chain, hashes, waitMs);
    const sales = await salesOf(reads, chain, found, filter, kind);
    if (!found.indexed.complete) await ask({ database, logger }, chain, filter.address as Address, asked.requestedBy);
    return {
      page: page.page,
      page_size: page.limit,
      cursor: found.next === null ? null : runs.next(page, placeOf(page, found, found.next)),
      indexed: showIndexed(found.indexed),
      result: showRows(found, filter, kind, { facts, sales }),
      block_exists: true,
      index_complete: found.indexed.complete,
    };
  };
}

/** Which token's last sale is shown beside a transfer. */
function tokenOf(row: NftTransferItem, filter: Filter, kind: NftTransfersSubject['kind']) {
  return { token: row.token_address, tokenId: kind === 'token' ? filter.token_id : row.token_id };
}

/** The last sales of a page's tokens; null unless the request asks for them. */
async function salesOf(
  database: ReadDatabase,
  chain: Chain,
  { transfers }: NftTransfersPage,
  filter: Filter,
  kind: NftTransfersSubject['kind'],
) {
  if (!filter.include_prices) return null;
  const tokens = transfers.map((row) => tokenOf(row, filter, kind));
  return getLastSalesOfTokens(database, chain, tokens);
}

interface Beside {
  readonly facts: Awaited<ReturnType<typeof transactionFactsOf>>;
  readonly sales: Awaited<ReturnType<typeof getLastSalesOfTokens>> | null;
}

function showRows(
  found: NftTransfersPage,
  filter: Filter,
  kind: NftTransfersSubject['kind'],
  { facts, sales }: Beside,
): z.infer<typeof nftTransfersSchema>['result'] {
  return found.transfers.map((row) =>
    showNftTransfer(row, found, {
      format: filter.format,
      tokenId: kind === 'token' ? filter.token_id : null,
      value: facts.get(row.transaction_hash)?.value ?? null,
      lastSale: sales === null ? undefined : sales(tokenOf(row, filter, kind)),
    }),
  );
}

function placeOf(page: TransfersPage, found: NftTransfersPage, next: NftTransferKey) {
  return {
    position: {
      block: next.blockNumber,
      transaction: next.transactionIndex,
      log: next.logIndex,
      item: next.item,
    },
    upperBound: page.upperBound ?? found.newestBlock,
  };
}

function readingOf(
  { filter, limit, order, position, upperBound }: TransfersPage,
  kind: NftTransfersSubject['kind'],
): NftTransfersQuery {
  return {
    subject: subjectOf(filter, kind),
    order,
    limit,
    ...boundsOfRows(filter),
    pinnedBlock: upperBound,
    after:
      position === null
        ? null
        : {
            blockNumber: position.block,
            transactionIndex: position.transaction,
            logIndex: position.log,
            item: position.item,
          },
  };
}

/** Whose transfers the filter means. */
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
