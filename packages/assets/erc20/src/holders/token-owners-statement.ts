import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, rawSql, rowsAfter, type Sql, sql } from '@chainstead/db';
import {
  digits,
  hex,
  int4,
  type PackedTexts,
  packedRows,
  type RowOf,
  readPackedPage,
} from '@chainstead/db/packed-rows';
import {
  getLabels,
  LABEL_REVISION,
  type LabelEntry,
  labelBookOf,
  labelsOf,
  readLabels,
  readSubjectState,
  type SubjectSnapshot,
  subjectState,
} from '@chainstead/pages';
import { changeAbove, IS_CREATION_DUE, IS_SUPPLY_RECENT } from '../token-facts/get-token-facts.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { coverageOfToken } from '../wrapped/dataset.ts';

/** The stored balance in base units. */
export interface OwnerPlace {
  readonly balance: string;
  readonly account: Address;
}

export interface TokenOwnersQuery {
  readonly token: Address;
  readonly liveMaxAgeMs: number;
  readonly freshFrom: Date | null;
  readonly wanted:
    | {
        readonly order: 'ASC' | 'DESC';
        readonly limit: number;
        readonly after: OwnerPlace | null;
      }
    | { readonly accounts: readonly Address[] };
}

export const UNREAD = -1;

const OWNERS = packedRows({
  account: hex<Address>('account', 20),
  anchorBlock: int4(`coalesce(anchor_block, ${UNREAD})`),
  /** The contract's value plus later movements, or else the sum of all transfers. */
  balance: digits('balance'),
});

/** Null if transfers are known to determine balances. */
const READINGS = sql`CASE WHEN (SELECT class <> 'sum' FROM classed) THEN (SELECT string_agg(
      encode(account, 'hex') || CASE WHEN is_fresh THEN '+' ELSE '-' END || anchor_value::text, ',') FILTER (WHERE anchor_block IS NOT NULL) FROM said) END`;

interface OwnerReading {
  readonly said: string;
  readonly isFresh: boolean;
}

export function readReadings(readings: string | null): ReadonlyMap<Address, OwnerReading> {
  const entries = readings?.matchAll(/([0-9a-f]{40})([+-])(\d+)/g) ?? [];
  return new Map(
    Array.from(entries, ([, account, sign, said = '']) => [
      `0x${account}` as Address,
      { said, isFresh: sign === '+' },
    ]),
  );
}

/** Whether transfers determine balances; `new`: unknown. */
type TokenClass = 'sum' | 'live' | 'none' | 'new';

type OwnersState = readonly [
  subject: SubjectSnapshot,
  knownClass: TokenClass,
  contradictions: number | null,
  facts:
    | readonly [
        isVerified: boolean,
        createdBlock: number | null,
        decimals: number | null,
        totalSupply: string | null,
        areDue: boolean,
        isCreationDue: boolean,
      ]
    | null,
  readAt: string,
  /** Hexadecimal digits. */
  givers: string | null,
  labelRevision: number,
  labels: readonly LabelEntry[] | null,
  /** Null if transfers determine balances. Parsed by {@link readReadings}. */
  readings: string | null,
];

interface OwnersReading {
  readonly select?: Sql;
  /** The revision is always included. @default true */
  readonly hasLabels?: boolean;
  /** @default true */
  readonly hasReadings?: boolean;
}

/**
 * One row: owners, from one range of `erc20_holders_by_balance` or lookups, and {@link OwnersState}
 * (token-owners.explain.test.ts). Without contract reads, a page is an index-only scan. `state` is
 * one JSON array: a column takes the driver longer than its contents. Separate subqueries, since a
 * join takes longer than the reads.
 */
export function tokenOwnersStatement(chain: Chain, query: TokenOwnersQuery, reading: OwnersReading = {}): Sql {
  const { select = OWNERS.select, hasLabels = true, hasReadings = true } = reading;
  const token = sql`${addressBytes(query.token)}::bytea`;
  const isCoin = query.token === chain.wrappedNative;
  const subject = { kind: 'contract', subject: token, chainId: chain.id, dataset: erc20Transfers.name } as const;
  const unlessCounted = isCoin ? sql`(SELECT 'live' FROM covered WHERE NOT is_counted)` : sql`NULL`;
  const ofToken = sql`token = ${token} AND chain_id = ${chain.id}`;
  const held = heldRows(query, ofToken);
  const wraps = { id: chain.id, wrappedNative: isCoin ? chain.wrappedNative : null };
  const changed = changeAbove(wraps, token, sql`(SELECT supply_block FROM facts WHERE is_supply_recent)`);
  const readings = sql`account, anchor_block, anchor_value,
    anchored_at >= (SELECT least(now() - make_interval(secs => ${query.liveMaxAgeMs / 1_000}::float8), ${query.freshFrom}::timestamptz)) AS is_fresh`;
  const said = hasReadings ? sql`), said AS (\n  ${held(readings)}\n` : rawSql('');
  const labels = hasLabels ? labelsOf(sql`ARRAY(SELECT account FROM page)`, chain.id) : sql`NULL::json`;
  return sql`WITH ${coverageOfToken(chain, query.token, subject)}, facts AS MATERIALIZED (
  SELECT verified, created_block, decimals, total_supply, supply_block, facts_status = 'known' AS is_read,
    ${IS_SUPPLY_RECENT} AS is_supply_recent, standard IS NOT NULL AND ${IS_CREATION_DUE} AS is_creation_due
  FROM tokens WHERE address = ${token} AND chain_id = ${chain.id}
), classed AS MATERIALIZED (
  SELECT coalesce(${unlessCounted}, (SELECT class FROM erc20_token_classes WHERE ${ofToken}
    AND NOT (class = 'none' AND told_at < now() - interval '24 hours')), 'new') AS class
), page AS (
  ${held(sql`account, balance, anchor_block`)}
${said})
SELECT json_build_array(${subjectState(subject, erc20TokenHolders)}, (SELECT class FROM classed),
    (SELECT contradictions FROM erc20_holder_counts WHERE ${ofToken}),
    (SELECT json_build_array(verified, created_block, decimals, total_supply::text, NOT is_read OR NOT is_supply_recent OR EXISTS (${changed}), is_creation_due)
      FROM facts),
    clock_timestamp(), ${givers(query, ofToken)}, ${LABEL_REVISION}, ${labels}, ${hasReadings ? READINGS : sql`NULL`}) AS state, owners.*
FROM (SELECT ${select} FROM page) AS owners`;
}

const GIVERS_MAX = 100;

/** Accounts below zero may hold the most: they are read first. Hexadecimal digits; null: none. */
function givers({ wanted }: TokenOwnersQuery, ofToken: Sql): Sql {
  if ('accounts' in wanted || wanted.after !== null) return sql`NULL`;
  return sql`(SELECT encode(string_agg(account, ''), 'hex') FROM (SELECT account FROM erc20_holders
    WHERE ${ofToken} AND balance < 0 ORDER BY balance LIMIT ${rawSql(GIVERS_MAX)}) AS giver)`;
}

function heldRows({ wanted }: TokenOwnersQuery, ofToken: Sql): (columns: Sql) => Sql {
  if ('accounts' in wanted) {
    const accounts = sql`${wanted.accounts.map(addressBytes)}::bytea[]`;
    return (columns) => sql`SELECT known.* FROM unnest(${accounts}) WITH ORDINALITY AS requested(owner, place)
    CROSS JOIN LATERAL (SELECT ${columns} FROM erc20_holders WHERE ${ofToken} AND account = requested.owner LIMIT 1) AS known
  ORDER BY requested.place`;
  }
  const order = rawSql(wanted.order);
  const end = wanted.after && [
    sql`${wanted.after.balance}::numeric`,
    sql`${addressBytes(wanted.after.account)}::bytea`,
  ];
  const more = end === null ? rawSql('') : sql` AND ${rowsAfter(wanted.order, ['balance', 'account'], end)}`;
  return (columns) => sql`SELECT ${columns} FROM erc20_holders WHERE ${ofToken} AND balance > 0${more}
    ORDER BY balance ${order}, account ${order} LIMIT ${wanted.limit + 1}`;
}

export interface TokenStanding {
  readonly class: TokenClass;
  readonly isVerified: boolean;
  readonly contradictions: number;
  readonly firstBlock: number;
  readonly indexedFrom: number | null;
  readonly indexedTo: number | null;
  readonly isChainIndexed: boolean;
  readonly isBuilt: boolean;
}

export type OwnerFacts = Pick<RowOf<typeof OWNERS>, 'anchorBlock' | 'balance'> & {
  /** Null if the contract was not read, or the token adds up. */
  readonly reading: OwnerReading | null;
};

/** In Node: in SQL this took as long per row as the rest of a page. */
export function createOwnerResolver(
  token: TokenStanding,
): (owner: OwnerFacts) => { readonly isDue: boolean; readonly reported: string | null } {
  const { indexedFrom, indexedTo } = token;
  const addsUp = token.class === 'sum' || (token.class === 'new' && token.isVerified);
  const isWhole = token.isChainIndexed && indexedFrom !== null && indexedFrom <= token.firstBlock;
  const isSumBelieved = addsUp && token.contradictions === 0 && isWhole;
  // While transfers are counted, sums are incomplete; contract reads are still valid.
  const isReported = token.isBuilt || token.class === 'live';

  function readBalance({ anchorBlock, balance, reading }: OwnerFacts): string | null {
    if (token.class === 'live') return reading?.isFresh === true ? reading.said : null;
    if (token.class === 'none' || anchorBlock === UNREAD || indexedFrom === null || indexedTo === null)
      return null;
    // Every block since is indexed, and there were no movements, or transfers determine them.
    const isSound =
      anchorBlock >= indexedFrom - 1 && anchorBlock <= indexedTo && (addsUp || reading?.said === balance);
    // Invariant: BALANCE-NOT-NEGATIVE
    return isSound && !isNegative(balance) ? balance : null;
  }

  return (owner) => {
    const read = readBalance(owner);
    if (read !== null) return { isDue: false, reported: isReported ? read : null };
    // Invariant: BALANCE-NOT-NEGATIVE
    const isSum = isSumBelieved && owner.anchorBlock === UNREAD && !isNegative(owner.balance);
    return { isDue: true, reported: isSum && isReported ? owner.balance : null };
  };
}

function isNegative(balance: string): boolean {
  return balance.startsWith('-');
}

export type OwnersPage = Awaited<ReturnType<typeof getOwnersPage>>;

export interface OwnersCache {
  readonly unreported: Set<string>;
}

const UNREPORTED_MAX = 10_000;

export async function getOwnersPage(
  database: Database,
  { unreported }: OwnersCache,
  chain: Chain,
  query: TokenOwnersQuery,
) {
  const labels = labelBookOf(database);
  const areKept = labels.isKept(database);
  const read = (hasReadings: boolean) =>
    readPackedPage<RowOf<typeof OWNERS>, PackedTexts & { state: OwnersState }>(database, OWNERS, (select) =>
      tokenOwnersStatement(chain, query, { select, hasLabels: !areKept, hasReadings }),
    );
  const name = `${chain.id} ${query.token}`;
  const hasReadings = unreported.has(name);
  let { rows, page } = await read(hasReadings);
  const addsUp = page.state[1] === 'sum';
  if (addsUp) unreported.delete(name);
  else if (!hasReadings) {
    if (unreported.size >= UNREPORTED_MAX) unreported.clear();
    unreported.add(name);
    ({ rows, page } = await read(true));
  }
  const [subject, knownClass, contradictions, facts, readAt, givers, labelRevision, labelEntries, readings] =
    page.state;
  const [isVerified, createdBlock, decimals, totalSupply, areFactsDue, isCreationDue] = facts ?? NO_FACTS;
  const accounts = rows.map(({ account }) => account);
  const labelOf = areKept
    ? (labels.labelsAt(chain, labelRevision) ?? (await getLabels(database, chain, accounts)))
    : readLabels(labelEntries);
  const firstBlock = createdBlock ?? chain.firstBlock;
  const { coverage, isAskNoted, isChainIndexed } = readSubjectState(chain, subject, firstBlock);
  const standing = { class: knownClass, contradictions: contradictions ?? 0 };
  const resolve = createOwnerResolver({
    ...standing,
    isVerified,
    firstBlock,
    indexedFrom: coverage.indexed.fromBlock,
    indexedTo: coverage.indexed.toBlock,
    isChainIndexed,
    isBuilt: coverage.isBuilt,
  });
  const said = readReadings(readings);
  return {
    ...standing,
    coverage,
    isAskNoted,
    readAt: new Date(readAt),
    decimals,
    totalSupply,
    areFactsDue,
    isCreationDue,
    givers: (givers?.match(/[0-9a-f]{40}/g) ?? []).map((digits) => `0x${digits}` as Address),
    rows: rows.map(({ account, anchorBlock, balance }) => {
      const resolved = resolve({ anchorBlock, balance, reading: said.get(account) ?? null });
      return { account, balance, ...resolved, label: labelOf(account) };
    }),
  };
}

const NO_FACTS = [false, null, null, null, true, false] as const;
