import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  asSql,
  hexText,
  joinSql,
  type ReadDatabase,
  rawSql,
  rowsAfterInPartitions,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { DIRECTION, IS_GIVING_SIDE } from '@chainstead/db/column-types';
import { NFT_FROM_OTHERS, rowsOfWallet, WALLET_TABLES, type WalletTable } from '../page/places-page.ts';

export interface WalletPart {
  readonly block: number;
  readonly index: number;
  /** `account`: also approvals in another sender's transaction. `internal`: native tokens. */
  readonly kind: 'account' | 'internal' | 'token' | 'nft' | 'approval';
  /** ROLES, or a number below them; only for `account`. */
  readonly roles: number;
  readonly hash: string | null;
  /** Only for `account`. */
  readonly transactionKey: string | null;
  readonly isSent: boolean;
  readonly isReceived: boolean;
  readonly counterparty: Address | null;
  readonly token: Address | null;
  /** Wei; only for `internal`. */
  readonly value: bigint;
}

export interface WalletPlace {
  readonly block: number;
  readonly index: number;
  readonly parts: readonly WalletPart[];
}

interface Source extends WalletTable {
  readonly ties: readonly string[];
  readonly columns: Sql;
}

const SIDES = sql`${asSql(IS_GIVING_SIDE)} AS "isSent", direction <> ${rawSql(DIRECTION.sent)} AS "isReceived", ${hexText('counterparty')} AS counterparty`;
const OF_LOG = sql`'0' AS value, 0 AS roles, NULL::text AS "transactionKey", ${hexText('transaction_hash')} AS hash`;
const NO_SIDES = sql`false AS "isSent", false AS "isReceived", NULL AS counterparty, NULL AS token`;

const SOURCES: readonly Source[] = [
  {
    ...WALLET_TABLES.account,
    ties: ['roles'],
    columns: sql`'account' AS kind, '0' AS value, roles::int AS roles, transaction_key::text, NULL AS hash, ${NO_SIDES}`,
  },
  {
    ...WALLET_TABLES.internal,
    ties: ['trace_index', 'direction'],
    columns: sql`'internal' AS kind, value::text, 0 AS roles, NULL::text AS "transactionKey", ${hexText('transaction_hash')} AS hash, ${SIDES}, NULL AS token`,
  },
  {
    ...WALLET_TABLES.token,
    ties: ['log_index', 'direction'],
    columns: sql`'token' AS kind, ${OF_LOG}, ${SIDES}, ${hexText('token')} AS token`,
  },
  {
    ...WALLET_TABLES.nftFrom,
    ties: ['log_index', 'item'],
    columns: sql`'nft' AS kind, ${OF_LOG}, true AS "isSent", to_address = from_address AS "isReceived", ${hexText('to_address')} AS counterparty, ${hexText('token_address')} AS token`,
  },
  {
    ...NFT_FROM_OTHERS,
    ties: ['log_index', 'item'],
    columns: sql`'nft' AS kind, ${OF_LOG}, false AS "isSent", true AS "isReceived", ${hexText('from_address')} AS counterparty, ${hexText('token_address')} AS token`,
  },
  { ...WALLET_TABLES.approval, ties: ['log_index'], columns: sql`'approval' AS kind, ${OF_LOG}, ${NO_SIDES}` },
];

const PAGE = 2_000;

export async function* readWalletPlaces(
  database: ReadDatabase,
  chain: Chain,
  wallet: Address,
  to: number,
): AsyncGenerator<WalletPlace> {
  const streams = await Promise.all(
    SOURCES.map(async (source) => {
      const rows = readSource(database, source, { chainId: chain.id, wallet, to });
      return { rows, next: await rows.next() };
    }),
  );
  for (;;) {
    const heads = streams.flatMap(({ next }) => (next.done === true ? [] : [next.value]));
    const first = heads.toSorted((a, b) => a.block - b.block || a.index - b.index)[0];
    if (first === undefined) return;
    const { block, index } = first;
    const parts: WalletPart[] = [];
    for (const stream of streams)
      while (
        stream.next.done !== true &&
        stream.next.value.block === block &&
        stream.next.value.index === index
      ) {
        parts.push(stream.next.value);
        stream.next = await stream.rows.next();
      }
    yield { block, index, parts };
  }
}

async function* readSource(
  database: ReadDatabase,
  { ties, columns, ...source }: Source,
  { chainId, wallet, to }: { readonly chainId: number; readonly wallet: Address; readonly to: number },
): AsyncGenerator<WalletPart> {
  const place = ['block_number', 'transaction_index', ...ties] as const;
  const { table, also = sql`true` } = source;
  const ofWallet = [
    ...rowsOfWallet(source, wallet),
    sql`chain_id = ${chainId} AND block_number <= ${to}::int`,
    also,
  ];
  let after: readonly [block: number, ...number[]] = [-1, -1, ...ties.map(() => -1)];
  for (;;) {
    const [block, ...rest] = after;
    const end = [sql`${block}::int`, ...rest.map((value) => sql`${value}::int`)] as const;
    const unread = rowsAfterInPartitions('ASC', place, end);
    const rows = await database.select<
      Omit<WalletPart, 'value'> & { readonly value: string; readonly ties: readonly number[] }
    >(
      sql`SELECT block_number::int8 AS block, transaction_index AS index, ${columns}, ARRAY[${joinSql(ties.map((tie) => rawSql(`${tie}::int`)))}] AS ties
       FROM ${rawSql(table)} ${where([...ofWallet, ...unread])}
       ORDER BY ${joinSql(place.map(rawSql))} LIMIT ${rawSql(PAGE)}`,
    );
    for (const { ties: _, value, ...row } of rows) yield { ...row, value: BigInt(value) };
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = [last.block, last.index, ...last.ties];
  }
}
