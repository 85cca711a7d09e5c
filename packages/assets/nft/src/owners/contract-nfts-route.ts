import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { hexBytes, hexText, rawSql, type Sql, sql, where } from '@chainstead/db';
import {
  defineListRoute,
  InvalidParameterError,
  NotServedError,
  querySchema,
  type RouteModule,
  refuseInvalid,
  textParameter,
  UNSERVED_OPERATIONS,
} from '@chainstead/http';
import { type ReadingSources, readBuilt, showIndexed, showSyncState } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { RecordKey } from '../records/nft-record.ts';
import { createRecordPages } from '../records/record-pages.ts';
import { includePricesParameter, recordParameters } from '../records/record-parameters.ts';
import { showNft } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { type HeldNow, NOBODY_REQUESTED, withAmountsNow } from '../token-state/held-readers.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import {
  type CollectionSubjects,
  type CollectionSubjectsOptions,
  collectionStatement,
  createCollectionSubjects,
  type RequestedCollection,
  readCollectionRows,
} from './collection-subjects.ts';
import { contractNftsSchema } from './owners-response.ts';

/** docs/api/nfts.md#nfts-of-a-collection */
export function createContractNftsRoute(options: CollectionSubjectsOptions): RouteModule {
  return (app, dependencies) => {
    const { database, parameters, reads } = dependencies;
    const subjects = createCollectionSubjects(dependencies, options);
    const { heldNow = NOBODY_REQUESTED } = options;
    const records = createRecordPages(reads, options.sendersOf);
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}',
      operationId: 'getContractNFTs',
      tags: ['NFTs'],
      summary: 'List NFTs by collection',
      description:
        'Existing NFTs of a collection, highest token hash first. `totalRanges` and `range` select one of several equal parts of the hashes for parallel downloads. The status is SYNCING while blocks of the collection are missing; the first request starts their backfill.',
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        ...recordParameters({ normalizeMetadata: true }),
        include_prices: includePricesParameter(),
        totalRanges: countParameter(`Number of parts of the collection, up to ${RANGES_MAX}. Use it with range.`),
        range: countParameter('Number of the part, from 1. Use it with totalRanges.'),
        limit: parameters.limit,
        cursor: parameters.cursor,
      }),
      refuseInvalid(result, c) {
        const unserved = UNSERVED_OPERATIONS.find(({ method, path }) => method === 'GET' && path === c.req.path);
        if (!result.success && unserved !== undefined) throw new NotServedError(unserved);
        refuseInvalid(result, c);
      },
      response: { description: 'A page of NFTs', schema: contractNftsSchema },
      datasets: [nftTransfers.name],
      cursorName: 'collection-nfts',
      filter: filterSchema,
      filterOf: ({ address, chain, cursor, limit, body, ...filter }) => ({
        ...filter,
        address,
        chain: chain?.key,
      }),
      position: z.object({ hash: z.string().regex(/^[0-9a-f]{32}$/) }),
      firstPage: 0,
      read: async ({ chain, filter, limit, position, requester }) => {
        const requested = { chain, contract: parseAddress(filter.address), requestedBy: requester };
        const query = { limit, after: position?.hash ?? null, range: rangeOf(filter) };
        const nfts = await getContractNfts(dependencies, { subjects, heldNow }, requested, query);
        const includePrices = filter.include_prices;
        const { records: tokens, ...shared } = await records.read(chain, nfts.ids, { includePrices });
        await requestUnreadTokens(database, chain, tokens);
        const hash = nfts.nextAfter;
        const next = hash === null ? null : { position: { hash }, upperBound: nfts.indexed.toBlock ?? 0 };
        return { nfts, tokens, shared, next };
      },
      present: ({ nfts, tokens, shared }, envelope, { filter }) => {
        const { format, normalizeMetadata, media_items: mediaItems } = filter;
        const shown = { ...shared, format, normalizeMetadata, mediaItems, collection: 'pictures' } as const;
        return {
          ...showSyncState(nfts),
          ...envelope,
          indexed: showIndexed(nfts.indexed),
          result: tokens.map((token) => showNft(token, shown)),
        };
      },
    });
  };
}

/** Errors repeat these names of parameters. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default('eth'),
  format: z.enum(['decimal', 'hex']).default('decimal'),
  normalizeMetadata: z.boolean().default(true),
  media_items: z.boolean().default(false),
  include_prices: z.boolean().default(false),
  totalRanges: z.int().nullable().default(null),
  range: z.int().nullable().default(null),
});
type Filter = z.infer<typeof filterSchema>;

function rangeOf({ totalRanges, range }: Filter): HashRange | null {
  if (totalRanges === null && range === null) return null;
  if (totalRanges === null)
    throw new InvalidParameterError({ parameter: 'totalRanges', allowed: 'in how many parts range counts' });
  if (range === null)
    throw new InvalidParameterError({ parameter: 'range', allowed: `which of the ${totalRanges} parts, from 1` });
  if (range > totalRanges)
    throw new InvalidParameterError({
      parameter: 'range',
      given: range,
      allowed: `a whole number from 1 to totalRanges (${totalRanges})`,
    });
  return hashRange({ range, totalRanges });
}

const RANGES_MAX = 100;

function countParameter(description: string) {
  return textParameter(`a whole number from 1 to ${RANGES_MAX}`, (text) => {
    const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
    return count >= 1 && count <= RANGES_MAX ? count : undefined;
  })
    .optional()
    .openapi({ type: 'integer', minimum: 1, maximum: RANGES_MAX, description });
}

/**
 * An ERC-1155 amount is the total of all holders. While the history is incomplete, contracts report
 * balances of `givers`; ids without one in time are left out.
 */
async function getContractNfts(
  sources: ReadingSources,
  { subjects, heldNow }: { readonly subjects: CollectionSubjects; readonly heldNow: HeldNow },
  requested: RequestedCollection,
  query: Omit<ContractNftsQuery, 'contract' | 'isSingle'>,
) {
  const { chain, contract } = requested;
  const collection = await subjects.open(requested);
  const isSingle = collection.contractType !== 'ERC1155';
  const statement = contractNftsStatement(chain, { ...query, contract, isSingle });
  const stored = await readBuilt(sources, (from) => readCollectionRows<StoredNft>(from, chain, statement));
  const state = await subjects.stateOf(requested, collection, stored);
  const rows = stored.rows.slice(0, query.limit);
  const possibleHoldings = rows.flatMap(({ tokenId, givers, lastBlock }) =>
    (givers ?? []).map((giver) => ({
      ...{ address: contract, tokenId, owner: giver as Address },
      ...{ amount: null, blockNumber: changeBlockOf(lastBlock) },
    })),
  );
  const holdings = await withAmountsNow(heldNow, chain, possibleHoldings);
  const heldAfterAll = new Set(holdings.map(({ tokenId }) => tokenId));
  const existing = rows.filter(({ tokenId, isHeld }) => isHeld || heldAfterAll.has(tokenId));
  const totalOf = ({ supply }: StoredNft) => (state.indexed.complete ? supply : null);
  return {
    ...state,
    ids: existing.map(
      (nft): RecordKey => ({
        address: contract,
        tokenId: nft.tokenId,
        owner: isSingle ? nft.receiver : null,
        amount: isSingle ? '1' : totalOf(nft),
        blockNumber: changeBlockOf(nft.lastBlock),
      }),
    ),
    // Last id examined, existing or not, if more follow.
    nextAfter: stored.rows.length > query.limit ? (rows.at(-1)?.tokenHash ?? null) : null,
  };
}

interface ContractNftsQuery {
  readonly contract: Address;
  readonly limit: number;
  readonly after: string | null;
  readonly range: HashRange | null;
  readonly isSingle: boolean;
}

const GIVERS_MAX = 10;

interface StoredNft {
  readonly tokenId: string;
  readonly tokenHash: string;
  readonly supply: string;
  /** If false, `givers` may still hold it: newest change first, at most {@link GIVERS_MAX}. */
  readonly isHeld: boolean;
  readonly givers: readonly string[] | null;
  readonly lastBlock: number;
  readonly receiver: Address | null;
}

/** One range backwards. While ERC-1155 transfers are missing, also ids without a known holder. */
export function contractNftsStatement(chain: Chain, query: ContractNftsQuery): Sql {
  return collectionStatement(chain, query.contract, (of, isPartial) => {
    const { after, range } = query;
    const bounds = [
      of('ids'),
      ...(after === null ? [] : [sql`ids.token_hash < ${hexBytes(after)}`]),
      ...(range === null ? [] : [sql`ids.token_hash >= ${range.from}`]),
      ...(range === null || range.to === null ? [] : [sql`ids.token_hash < ${range.to}`]),
    ];
    const limit = sql`LIMIT ${query.limit + 1}`;
    const rowsWhere = (accounts: Sql, ...conditions: readonly Sql[]): Sql =>
      sql`SELECT ids.token_id, ids.token_hash, ids.supply, ids.is_held, ids.last_block, ids.receiver, ${accounts} AS givers FROM nft_collection_ids AS ids
  ${where([...conditions, ...bounds])} ORDER BY ids.token_hash DESC ${limit}`;
    const held = rowsWhere(sql`NULL::text[]`, sql`ids.is_held`);
    // The first of `nft_collection_balances_given_by_id`, read backwards.
    const givers = sql`ARRAY(SELECT ${hexText('giver.owner')} FROM nft_collection_balances AS giver
    WHERE ${of('giver')} AND giver.token_id = ids.token_id AND giver.amount <= 0 AND giver.is_sum ORDER BY giver.last_block DESC, giver.owner DESC LIMIT ${rawSql(GIVERS_MAX)})`;
    const given = rowsWhere(givers, sql`NOT ids.is_held`, sql`ids.receiver IS NULL`, isPartial);
    return {
      columns: sql`page.token_id::text, encode(page.token_hash, 'hex') AS "tokenHash", page.supply::text AS supply,
        page.is_held, page.givers, page.last_block, ${hexText('page.receiver')} AS receiver`,
      rows: query.isSingle
        ? held
        : sql`SELECT either.* FROM ((${held}) UNION ALL (${given})) AS either ORDER BY either.token_hash DESC ${limit}`,
      orderBy: sql`page.token_hash DESC`,
    };
  });
}

/** From inclusive, to exclusive. 16 bytes each; null: to the end. */
interface HashRange {
  readonly from: Buffer;
  readonly to: Buffer | null;
}

const HASHES = 2n ** 128n;

/** Part `range` (from 1) of `totalRanges` equal parts. */
export function hashRange({
  range,
  totalRanges,
}: {
  readonly range: number;
  readonly totalRanges: number;
}): HashRange {
  const end = (part: number): bigint => (BigInt(part) * HASHES + BigInt(totalRanges) - 1n) / BigInt(totalRanges);
  const bytesOf = (hash: bigint) => Buffer.from(hash.toString(16).padStart(32, '0'), 'hex');
  return { from: bytesOf(end(range - 1)), to: range === totalRanges ? null : bytesOf(end(range)) };
}
