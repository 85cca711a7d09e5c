import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, hexText, rawSql, type Sql, sql, where } from '@chainstead/db';
import {
  InvalidParameterError,
  NotServedError,
  refuseInvalid,
  textParameter,
  UNSERVED_OPERATIONS,
} from '@chainstead/http';
import { type ReadingSources, readBuilt } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { RecordKey } from '../records/nft-record.ts';
import { INCLUDE_PRICES, recordParameters } from '../records/record-parameters.ts';
import { nftView } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { withAmountsNow } from '../token-state/held-readers.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import {
  COLLECTION_SYNC,
  type CollectionServices,
  collectionStatement,
  defineListRoute,
  type RequestedCollection,
  readCollectionRows,
} from './collection-subjects.ts';

const RANGES_MAX = 100;

/** docs/api/nfts.md#nfts-of-a-collection */
export const contractNftsRoute = defineListRoute({
  path: '/api/v2.2/nft/{address}',
  operationId: 'getContractNFTs',
  tag: 'NFTs',
  summary: 'List NFTs by collection',
  description:
    'Existing NFTs of a collection, highest token hash first. `totalRanges` and `range` select one of several equal parts of the hashes for parallel downloads. The status is SYNCING while blocks of the collection are missing; the first request starts their backfill.',
  params: ['address'],
  query: [
    'chain',
    recordParameters({ normalizeMetadata: true }),
    INCLUDE_PRICES,
    {
      totalRanges: countParameter(`Number of parts of the collection, up to ${RANGES_MAX}. Use it with range.`),
      range: countParameter('Number of the part, from 1. Use it with totalRanges.'),
    },
    'limit',
    'cursor',
  ],
  refuseInvalid(result, c) {
    const unserved = UNSERVED_OPERATIONS.find(({ method, path }) => method === 'GET' && path === c.req.path);
    if (!result.success && unserved !== undefined) throw new NotServedError(unserved);
    refuseInvalid(result, c);
  },
  name: 'ContractNfts',
  response: 'A page of NFTs',
  datasets: [nftTransfers.name],
  position: z.string().regex(/^[0-9a-f]{32}$/),
  firstPage: 0,
  async read(given) {
    const { services, database, chain, totalRanges = null, range = null } = given;
    const query = { ...given.query, range: rangeOf(totalRanges, range) };
    const nfts = await getContractNfts(given, services, given, query);
    const shown = await services.records.read(chain, nfts.ids, { includePrices: given.include_prices });
    await requestUnreadTokens(database, chain, shown.rows);
    const { indexed, nextAfter } = nfts;
    const next = nextAfter === null ? null : { position: nextAfter, upperBound: indexed.toBlock ?? 0 };
    return { ...shown, state: nfts, indexed, next };
  },
  view: nftView,
  row: (record, page, given) => [record, page, given],
  fields: (standard) => ({ ...COLLECTION_SYNC, ...standard }),
});

function rangeOf(totalRanges: number | null, range: number | null): HashRange | null {
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
  { subjects, heldNow }: CollectionServices,
  requested: RequestedCollection,
  query: Omit<ContractNftsQuery, 'contract' | 'isSingle'>,
) {
  const { chain, address: contract } = requested;
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
