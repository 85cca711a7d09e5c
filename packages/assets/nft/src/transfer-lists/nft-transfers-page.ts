import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, joinSql, type Sql, sql, where } from '@chainstead/db';
import {
  digits,
  hex,
  hexOrNull,
  int4,
  int8,
  packedRows,
  type RowOf,
  textOrNull,
} from '@chainstead/db/packed-rows';
import {
  type ChainQuery,
  type ChainRange,
  type CoveredSubject,
  chainPage,
  chainRange,
  ITEM_ORDER,
  type ItemPosition,
  newestOfRun,
} from '@chainstead/pages';
import { collectionFacts } from '../collections/collection-facts-statement.ts';

export type NftTransfersSubject =
  /** Either side; `contracts` null: of all. */
  | { readonly kind: 'wallet'; readonly wallet: Address; readonly contracts: readonly Address[] | null }
  | { readonly kind: 'collection'; readonly token: Address }
  | { readonly kind: 'token'; readonly token: Address; readonly tokenId: string };

export interface NftTransfersQuery extends ChainQuery<ItemPosition> {
  readonly subject: NftTransfersSubject;
}

export interface NftTransfersReading {
  /** Transfers of a wallet to search for those of some contracts. */
  readonly scanMax?: number;
  /** On distributed tables, each range determines its node. @default false */
  readonly isSpread?: boolean;
}

export type NftTransferItem = RowOf<typeof NFT_TRANSFERS>;
/** Rows may be fewer than `query.limit` although more follow, for some contracts of a busy wallet. */
export type NftTransfersPage = Awaited<ReturnType<ReturnType<typeof nftTransfersPage>['read']>>;

/** No index has a wallet's transfers by contract. This many take a fraction of a second. */
const SCAN_MAX = 10_000;

/**
 * Each scan is an index range that stops after limit + 1 rows, by partition
 * (nft-transfers-page.explain.test.ts). A wallet's two are merged; a transfer to oneself is
 * sent. For some contracts they are searched up to `scanMax`; `stop` is where that ended a page.
 * The planner can't choose to sort everything: see ERC-20's wallet-transfers-page.ts.
 */
export function nftTransfersPage(
  chain: Chain,
  query: NftTransfersQuery,
  { scanMax = SCAN_MAX, isSpread = false }: NftTransfersReading = {},
) {
  const chainId = sql`${chain.id}`;
  const { subject } = query;
  const about = sql`${addressBytes(subject.kind === 'wallet' ? subject.wallet : subject.token)}::bytea`;
  const kind = subject.kind === 'wallet' ? 'wallet' : 'contract';
  const covered: CoveredSubject = { kind, subject: about, chainId, dataset: 'nft-transfers' };
  const range = chainRange(chain, covered, query, ITEM_ORDER);
  const inOrder = ITEM_ORDER.by(query.order, 'transfer.');
  const ofChain = sql`chain_id = ${chainId}`;
  const ranges = rangesOf(subject, about, isSpread).map((conditions) => [...conditions, ofChain]);
  const scans = ranges.map((conditions) => where([...conditions, ...range.scan]));
  // The collection has a token's rows, and its newest row is found without a search of all ranges.
  const all = subject.kind === 'token' ? [[...ofCollection(about), ofChain]] : ranges;
  const contracts = subject.kind === 'wallet' ? subject.contracts : null;
  const limit = sql`${query.limit + 1}`;
  return chainPage({
    ...{ chain, query, range, order: ITEM_ORDER, rows: NFT_TRANSFERS },
    ...(contracts === null
      ? { scan: mergeOf(scans, inOrder, limit) }
      : searchOf(mergeOf(scans, inOrder, sql`${scanMax}`), contracts, range, { inOrder, limit, scanMax })),
    newest: newestOfRun(
      query.order,
      all.map((of) => ({ from: 'nft_transfers', of })),
    ),
    labelled: sql`ARRAY(SELECT from_address FROM page UNION SELECT to_address FROM page)`,
    related: {
      contractOf: { column: contractsOf(chainId), read: readContracts },
    },
  });
}

function rangesOf(subject: NftTransfersSubject, about: Sql, isSpread: boolean): readonly (readonly Sql[])[] {
  if (subject.kind === 'wallet') {
    const ofSide = (side: Sql): readonly Sql[] => [
      sql`address_key(${side}) = address_key(${about})`,
      expectedTrue(sql`${side} = ${about}`),
    ];
    return [ofSide(sql`from_address`), [...ofSide(sql`to_address`), expectedTrue(sql`from_address <> ${about}`)]];
  }
  const [place, isSame] = ofCollection(about);
  if (subject.kind === 'collection') return [[place, isSame]];
  const id = sql`${subject.tokenId}::numeric`;
  return [
    [
      place,
      isSame,
      sql`token_id_key(token_id) = token_id_key(${id})`,
      expectedTrue(sql`token_id = ${id} AND last_token_id IS NULL`),
    ],
    [
      ...(isSpread ? [place] : []),
      sql`address_key(token_address) = address_key(${about})`,
      isSame,
      sql`last_token_id IS NOT NULL`,
      expectedTrue(sql`${id} BETWEEN token_id AND last_token_id`),
    ],
  ];
}

function ofCollection(token: Sql) {
  return [sql`collection_key = address_key(${token})`, expectedTrue(sql`token_address = ${token}`)] as const;
}

function mergeOf(ranges: readonly Sql[], inOrder: Sql, limit: Sql): Sql {
  const parts = ranges.map(
    (range) => sql`SELECT ${COLUMNS} FROM nft_transfers AS transfer ${range} ${inOrder} LIMIT ${limit}`,
  );
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const bracketed = parts.map((part) => sql`(${part})`);
  return sql`SELECT * FROM (${joinSql(bracketed, ' UNION ALL ')}) AS transfer ${inOrder} LIMIT ${limit}`;
}

function searchOf(
  scan: Sql,
  contracts: readonly Address[],
  { far }: Pick<ChainRange, 'far'>,
  { inOrder, limit, scanMax }: { readonly inOrder: Sql; readonly limit: Sql; readonly scanMax: number },
) {
  const ofContracts = sql`token_address = ANY (${contracts.map(addressBytes)}::bytea[])`;
  return {
    scan: sql`SELECT * FROM (${scan}) AS transfer ${where([...far, ofContracts])} ${inOrder} LIMIT ${limit}`,
    stop: sql`CASE WHEN (SELECT count(*) FROM page) < ${limit}::bigint THEN (
    SELECT ${ITEM_ORDER.inJson} FROM (
      SELECT * FROM (${scan}) AS transfer ${inOrder} OFFSET ${scanMax}::bigint - 1 LIMIT 1) AS last ${where(far)}) END`,
  };
}

const COLUMNS = sql`transfer.block_number, transfer.transaction_index, transfer.log_index, transfer.item, transfer.kind,
    transfer.token_address, transfer.token_id, transfer.last_token_id, transfer.from_address, transfer.to_address,
    transfer.amount, transfer.operator, transfer.transaction_hash`;

function contractsOf(chainId: Sql): Sql {
  return sql`(SELECT json_agg(json_build_array(encode(contract.address, 'hex'), shown.name, shown.symbol, shown.contract_type, shown.possible_spam, shown.verified))
    FROM (SELECT DISTINCT token_address AS address FROM page) AS contract CROSS JOIN LATERAL ${collectionFacts('contract.address', chainId)} AS shown)`;
}

interface ShownContract {
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
}

/** Hexadecimal digits, name, symbol, contract type, whether spam, whether verified. */
type ContractEntry = readonly [
  string,
  string | null,
  string | null,
  ShownContract['contractType'],
  boolean,
  boolean,
];

function readContracts(entries: readonly ContractEntry[] | null): (token: Address) => ShownContract {
  const contracts = new Map<string, ShownContract>();
  for (const [address, name, symbol, contractType, possibleSpam, verified] of entries ?? [])
    contracts.set(`0x${address}`, { name, symbol, contractType, possibleSpam, verified });
  return (token) => contracts.get(token) ?? UNKNOWN_CONTRACT;
}

const UNKNOWN_CONTRACT = { contractType: null, name: null, symbol: null, possibleSpam: false, verified: false };

const NFT_TRANSFERS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  item: int4('item'),
  kind: int4('kind'),
  token_address: hex<Address>('token_address', 20),
  token_id: digits('token_id'),
  /** Last id of an unexpanded range's mint; otherwise null. */
  last_token_id: textOrNull('last_token_id::text'),
  from: hex<Address>('from_address', 20),
  to: hex<Address>('to_address', 20),
  amount: digits('amount'),
  operator: hexOrNull<Address>('operator', 20),
  transaction_hash: hex<Hash>('transaction_hash', 32),
});
