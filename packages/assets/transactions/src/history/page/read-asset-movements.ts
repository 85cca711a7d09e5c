import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  hexText,
  type ReadDatabase,
  rawSql,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { DIRECTION } from '@chainstead/db/column-types';
import { IS_CONTRADICTED, type TransactionPosition } from '@chainstead/pages';
import type { GivenApproval } from '../../approvals/read-approvals.ts';
import { readEvidenceBits, type StoredEvidence } from '../../evidence/token-evidence.ts';
import { internalTransfers } from '../../internal-transfers/dataset.ts';
import type { CoinLeg, NftLeg, TokenLeg, TradePart } from '../classification/classification-features.ts';
import { rowsOfWallet, WALLET_TABLES, type WalletTable } from './places-page.ts';

export interface ShownNftLeg extends NftLeg {
  readonly kind: number;
}

export interface IndexedLegs {
  readonly tokens: readonly TokenLeg[];
  readonly nfts: readonly ShownNftLeg[];
  readonly trades: readonly TradePart[];
  /** In execution order; null: not indexed. */
  readonly inside: readonly CoinLeg[] | null;
  readonly approvals: readonly GivenApproval[];
  /** Null: no row. */
  readonly said: StoredEvidence | null;
}

interface PageSpan {
  readonly first: TransactionPosition;
  readonly last: TransactionPosition;
}

/** One index range per table. @returns finds movements at a position */
export async function readAssetMovements(
  database: ReadDatabase,
  chain: Chain,
  wallet: Address,
  span: PageSpan,
  blocks: readonly number[],
): Promise<(place: TransactionPosition) => IndexedLegs> {
  const scan: Scan = { database, ofWallet: rowsOf(chain, wallet, span) };
  const [tokens, nfts, trades, approvals, said, inside, traced] = await Promise.all([
    ...([readTokens(scan, wallet), readNfts(scan, wallet), readTrades(scan)] as const),
    ...([readApproved(scan), readSaid(scan), readInside(scan, wallet)] as const),
    readCoveredBlocks(database, chain, internalTransfers.name, blocks),
  ]);
  return (place) => {
    const key = `${place.block} ${place.transaction}`;
    return {
      tokens: tokens.get(key) ?? [],
      nfts: nfts.get(key) ?? [],
      trades: trades.get(key) ?? [],
      // A block has all of its rows or none.
      inside: inside.get(key) ?? (traced.has(place.block) ? [] : null),
      approvals: approvals.get(key) ?? [],
      said: said.get(key)?.[0] ?? null,
    };
  };
}

interface Scan {
  readonly database: ReadDatabase;
  readonly ofWallet: (table: Pick<WalletTable, 'key' | 'account'>) => Sql;
}

function rowsOf({ id }: Chain, wallet: Address, { first, last }: PageSpan): Scan['ofWallet'] {
  const [from, to] = [sql`${first.block}::bigint`, sql`${last.block}::bigint`];
  const span = sql`chain_id = ${id} AND block_number BETWEEN ${from} AND ${to}
  AND (block_number, transaction_index) >= (${from}, ${first.transaction}::int) AND (block_number, transaction_index) <= (${to}, ${last.transaction}::int)`;
  return (table) => where([...rowsOfWallet(table, wallet), span]);
}

const PLACE = sql`block_number::int8 AS block, transaction_index AS index`;
const IN_ORDER = sql`ORDER BY block_number, transaction_index, log_index`;

interface Placed {
  readonly block: number;
  readonly index: number;
}

async function readRows<Row extends Placed, Leg>(
  { database }: Scan,
  statement: Sql,
  toLeg: (row: Row) => Leg,
): Promise<ReadonlyMap<string, readonly Leg[]>> {
  const byPlace = Map.groupBy(await database.select<Row>(statement), ({ block, index }) => `${block} ${index}`);
  return new Map(Array.from(byPlace, ([place, rows]) => [place, rows.map(toLeg)]));
}

function readTokens(scan: Scan, wallet: Address) {
  return readRows<Side & { readonly logIndex: number; readonly token: Address }, TokenLeg>(
    scan,
    sql`SELECT ${PLACE}, log_index, direction, ${hexText('token')} AS token, ${hexText('counterparty')} AS counterparty, value::text
     FROM erc20_transfer_sides ${scan.ofWallet(WALLET_TABLES.token)} ${IN_ORDER}`,
    (row) => ({ token: row.token, logIndex: row.logIndex, ...sidesOf(wallet, row) }),
  );
}

interface Side extends Placed {
  readonly direction: number;
  readonly counterparty: Address;
  readonly value: string;
}

function sidesOf(wallet: Address, { direction, counterparty, value }: Side) {
  return {
    from: direction === DIRECTION.received ? counterparty : wallet,
    to: direction === DIRECTION.sent ? counterparty : wallet,
    value: BigInt(value),
  };
}

function readNfts(scan: Scan, wallet: Address) {
  const columns = sql`block_number, transaction_index, log_index, item, kind, token_address, token_id, from_address, to_address, amount, operator`;
  return readRows<Placed & Omit<ShownNftLeg, 'amount'> & { readonly amount: string }, ShownNftLeg>(
    scan,
    sql`SELECT ${PLACE}, log_index, kind, ${hexText('token_address')} AS token, token_id::text, ${hexText('from_address')} AS "from",
       ${hexText('to_address')} AS "to", amount::text, ${hexText('operator')} AS operator
     FROM (SELECT ${columns} FROM nft_transfers ${scan.ofWallet(WALLET_TABLES.nftFrom)}
       UNION ALL SELECT ${columns} FROM nft_transfers ${scan.ofWallet(WALLET_TABLES.nftTo)}
         AND ${expectedTrue(sql`from_address <> ${addressBytes(wallet)}::bytea`)}) AS side ${IN_ORDER}, item`,
    ({ logIndex, tokenId, amount, kind, token, from, to, operator }) => ({
      ...{ kind, token, tokenId, from, to, operator, logIndex },
      amount: BigInt(amount),
    }),
  );
}

function readTrades(scan: Scan) {
  const of = (role: TradePart['role']): Sql =>
    sql`SELECT block_number, transaction_index, log_index, ${rawSql(`'${role}'`)} AS role, side FROM nft_trades ${scan.ofWallet({ key: `address_key(${role})`, account: role })} AND leads`;
  return readRows<Placed & { readonly role: TradePart['role']; readonly side: number }, TradePart>(
    scan,
    sql`SELECT ${PLACE}, role, side FROM (${of('buyer')} UNION ALL ${of('seller')}) AS part ${IN_ORDER}`,
    ({ role, side }) => ({ role, isOffer: side === OFFER_ACCEPTED }),
  );
}

function readApproved(scan: Scan) {
  return readRows<
    Placed & {
      readonly logIndex: number;
      readonly token: Address;
      readonly spender: Address;
      readonly value: string;
    },
    GivenApproval
  >(
    scan,
    sql`SELECT ${PLACE}, log_index, ${hexText('token')} AS token, ${hexText('spender')} AS spender, value::text
     FROM erc20_approvals ${scan.ofWallet(WALLET_TABLES.approval)} ${IN_ORDER}`,
    ({ logIndex, value: text, token, spender }) => {
      const value = BigInt(text);
      return { kind: 'token', token, spender, value, isGranted: value > 0n, expiration: null, logIndex };
    },
  );
}

function readInside(scan: Scan, wallet: Address) {
  return readRows<Side, CoinLeg>(
    scan,
    sql`SELECT ${PLACE}, direction, ${hexText('counterparty')} AS counterparty, value::text
     FROM internal_transfers ${scan.ofWallet(WALLET_TABLES.internal)} ORDER BY block_number, transaction_index, trace_index`,
    (row) => ({ ...sidesOf(wallet, row), isInternal: true }),
  );
}

function readSaid(scan: Scan) {
  return readRows<Placed & { readonly evidence: number }, StoredEvidence>(
    scan,
    sql`SELECT ${PLACE}, evidence FROM account_transactions ${scan.ofWallet(WALLET_TABLES.account)}`,
    ({ evidence }) => readEvidenceBits(evidence),
  );
}

const OFFER_ACCEPTED = 1;

/** Blocks with all rows of every account, without those that contradict their header. */
export async function readCoveredBlocks(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
  dataset: string,
  blocks: readonly number[],
): Promise<ReadonlySet<number>> {
  if (blocks.length === 0) return new Set();
  const rows = await database.select<{ block: number }>(
    sql`SELECT wanted.block FROM unnest(${blocks}::bigint[]) AS wanted(block)
     WHERE EXISTS (SELECT FROM sync_ranges WHERE chain_id = ${id} AND dataset = ${dataset} AND wanted.block BETWEEN first_block AND last_block
       AND NOT (${IS_CONTRADICTED}))`,
  );
  return new Set(rows.map(({ block }) => block));
}
