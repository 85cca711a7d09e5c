/** Reads all of a wallet's activity on a chain, table by table, in chain order and in pages, however much it is. */

import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  addressBytes,
  asSql,
  expectedTrue,
  hexText,
  joinSql,
  type ReadDatabase,
  rawSql,
  rowsAfterInPartitions,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { DIRECTION, IS_GIVING_SIDE } from '@chainstead/db/direction';
import { IN_HISTORY } from '@chainstead/transactions';

/** A position in the chain, and the wallet's part there. */
export interface WalletPart {
  readonly block: number;
  readonly index: number;
  /**
   * `account`: it sent, received or was created, or another sender's transaction made an approval for it; `internal`:
   * native tokens moved inside; `approval`: it approved something.
   */
  readonly kind: 'account' | 'internal' | 'token' | 'nft' | 'approval';
  /** ROLES, or a number below them; only for `account`. */
  readonly roles: number;
  /** The transaction's; null for `account`, whose row has it. */
  readonly hash: string | null;
  /** Start of the transaction row's key; only for `account`. */
  readonly transactionKey: string | null;
  readonly isSent: boolean;
  readonly isReceived: boolean;
  readonly counterparty: Address | null;
  readonly token: Address | null;
  /** Wei; only for `internal`. */
  readonly value: bigint;
}

/** All parts of a transaction. */
export interface WalletPlace {
  readonly block: number;
  readonly index: number;
  readonly parts: readonly WalletPart[];
}

interface Source {
  readonly table: string;
  readonly key: string;
  readonly account: string;
  /** Distinguishes rows of one transaction, in order. */
  readonly ties: readonly string[];
  /** The columns of {@link Row}. */
  readonly columns: Sql;
  /** Null: all rows count. */
  readonly also: Sql | null;
}

interface Row {
  readonly block: number;
  readonly index: number;
  readonly kind: WalletPart['kind'];
  readonly roles: number;
  readonly row_key: string | null;
  readonly hash: string | null;
  readonly sent: boolean;
  readonly received: boolean;
  readonly other: Address | null;
  readonly token: Address | null;
  readonly value: string;
  readonly ties: readonly number[];
}

const SIDES = sql`${asSql(IS_GIVING_SIDE)} AS sent, direction <> ${rawSql(DIRECTION.sent)} AS received`;
const OF_LOG = sql`'0' AS value, 0 AS roles, NULL::text AS row_key, ${hexText('transaction_hash')} AS hash`;

const SOURCES: readonly Source[] = [
  {
    table: 'account_transactions',
    key: 'account_key',
    account: 'account',
    ties: ['roles'],
    columns: sql`'account' AS kind, '0' AS value, roles::int AS roles, transaction_key::text AS row_key, NULL AS hash, false AS sent, false AS received, NULL AS other, NULL AS token`,
    also: IN_HISTORY,
  },
  {
    table: 'internal_transfers',
    key: 'account_key',
    account: 'account',
    ties: ['trace_index', 'direction'],
    columns: sql`'internal' AS kind, value::text, 0 AS roles, NULL::text AS row_key, ${hexText('transaction_hash')} AS hash, ${SIDES}, ${hexText('counterparty')} AS other, NULL AS token`,
    also: null,
  },
  {
    table: 'erc20_transfer_sides',
    key: 'account_key',
    account: 'account',
    ties: ['log_index', 'direction'],
    columns: sql`'token' AS kind, ${OF_LOG}, ${SIDES}, ${hexText('counterparty')} AS other, ${hexText('token')} AS token`,
    also: null,
  },
  {
    table: 'nft_transfers',
    key: 'address_key(from_address)',
    account: 'from_address',
    ties: ['log_index', 'item'],
    columns: sql`'nft' AS kind, ${OF_LOG}, true AS sent, to_address = from_address AS received, ${hexText('to_address')} AS other, ${hexText('token_address')} AS token`,
    also: null,
  },
  {
    table: 'nft_transfers',
    key: 'address_key(to_address)',
    account: 'to_address',
    ties: ['log_index', 'item'],
    columns: sql`'nft' AS kind, ${OF_LOG}, false AS sent, true AS received, ${hexText('from_address')} AS other, ${hexText('token_address')} AS token`,
    also: sql`from_address <> to_address`,
  },
  {
    table: 'erc20_approvals',
    key: 'owner_key',
    account: 'owner',
    ties: ['log_index'],
    columns: sql`'approval' AS kind, ${OF_LOG}, false AS sent, false AS received, NULL AS other, NULL AS token`,
    also: null,
  },
];

/** Rows of a table in memory at once. */
const PAGE = 2_000;

/**
 * Yields each transaction once, ascending, with all of the wallet's parts in it.
 * @param to the last block that counts
 */
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
    const first = heads.toSorted((one, other) => one.block - other.block || one.index - other.index)[0];
    if (first === undefined) return;
    const { block, index } = first;
    const parts: WalletPart[] = [];
    for (const stream of streams)
      while (stream.next.done !== true && stream.next.value.block === block && stream.next.value.index === index) {
        parts.push(stream.next.value);
        stream.next = await stream.rows.next();
      }
    yield { block, index, parts };
  }
}

async function* readSource(
  database: ReadDatabase,
  { table, key, account, ties, columns, also }: Source,
  { chainId, wallet, to }: { readonly chainId: number; readonly wallet: Address; readonly to: number },
): AsyncGenerator<WalletPart> {
  const place = ['block_number', 'transaction_index', ...ties] as const;
  const ofWallet = [
    sql`${rawSql(key)} = ${addressKey(wallet)}::bigint`,
    expectedTrue(sql`${rawSql(account)} = ${addressBytes(wallet)}::bytea`),
    sql`chain_id = ${chainId} AND block_number <= ${to}::int`,
    ...(also === null ? [] : [also]),
  ];
  let after: readonly [block: number, ...number[]] = [-1, -1, ...ties.map(() => -1)];
  for (;;) {
    const [block, ...rest] = after;
    const unread = rowsAfterInPartitions('ASC', place, [
      sql`${block}::int`,
      ...rest.map((value) => sql`${value}::int`),
    ]);
    const rows = await database.select<Row>(
      sql`SELECT block_number::int8 AS block, transaction_index AS index, ${columns}, ARRAY[${joinSql(ties.map((tie) => rawSql(`${tie}::int`)))}] AS ties
       FROM ${rawSql(table)} ${where([...ofWallet, ...unread])}
       ORDER BY ${joinSql(place.map(rawSql))} LIMIT ${rawSql(PAGE)}`,
    );
    for (const row of rows) yield partOf(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = [last.block, last.index, ...last.ties];
  }
}

function partOf({ block, index, kind, roles, row_key, hash, sent, received, other, token, value }: Row): WalletPart {
  return {
    ...{ block, index, kind, roles, hash, token },
    transactionKey: row_key,
    isSent: sent,
    isReceived: received,
    counterparty: other,
    value: BigInt(value),
  };
}
