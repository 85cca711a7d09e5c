import { LABEL_REVISION, type LabelEntry, labelsOf, type SubjectState, subjectState } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Statement, shapedStatement } from '@chainstead/db';
import { digits, hex, int4, packedRows } from '@chainstead/db/packed-rows';
import { changeAbove, IS_CREATION_DUE, IS_SUPPLY_RECENT } from '../token-facts/token-rows.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { coverageOfToken } from '../wrapped/coin-coverage.ts';

/** A place in the order of owners: what is kept of the balance, base units, and who has it. */
export interface OwnerPlace {
  readonly balance: string;
  readonly account: Address;
}

/** What to read. */
export interface TokenOwnersQuery {
  readonly token: Address;
  /** So old a reading may be where transfers don't tell balances. Milliseconds. */
  readonly liveMaxAgeMs: number;
  /** Readings from this moment on are fresh whatever their age; null: none are. */
  readonly freshFrom: Date | null;
  /** A page in the order of balances, or certain accounts. */
  readonly wanted:
    | {
        readonly order: 'ASC' | 'DESC';
        /** Owners wanted; one more is read to see whether a page follows. */
        readonly limit: number;
        /** Owners strictly beyond this one; null for the first page. */
        readonly after: OwnerPlace | null;
      }
    | { readonly accounts: readonly Address[] };
}

/** Stands for the block of an account that its contract was not asked about. */
export const UNREAD = -1;

/** The rows of a page, in its order: what is kept of each account. What of it can be shown is decided in `tell-owner.ts`. */
export const OWNERS = packedRows({
  account: hex<Address>('account', 20),
  /** The block at which the contract was asked; {@link UNREAD}. */
  anchorBlock: int4(`coalesce(anchor_block, ${UNREAD})`),
  /** Where the account stands: what the contract said and what has moved since, or else what all transfers add up to. */
  balance: digits('balance'),
});

/** What contracts said of accounts, where that is not known to follow from transfers; else null. */
const READINGS = `CASE WHEN (SELECT class <> 'sum' FROM classed) THEN (SELECT string_agg(
      encode(account, 'hex') || CASE WHEN is_fresh THEN '+' ELSE '-' END || anchor_value::text, ',') FILTER (WHERE anchor_block IS NOT NULL) FROM said) END`;

/** What a contract said of an account. */
export interface OwnerReading {
  /** Base units, decimal digits. */
  readonly said: string;
  /** Whether it was asked lately. */
  readonly isFresh: boolean;
}

export function readReadings(readings: string | null): ReadonlyMap<Address, OwnerReading> {
  const found = readings?.matchAll(/([0-9a-f]{40})([+-])(\d+)/g) ?? [];
  return new Map(
    Array.from(found, ([, account, sign, said = '']) => [`0x${account}` as Address, { said, isFresh: sign === '+' }]),
  );
}

/** Whether transfers tell balances; `new`: nobody knows. */
export type TokenClass = 'sum' | 'live' | 'none' | 'new';

/** What the statement's column `state` holds, beside a page. Null where there is no such row. */
export type OwnersState = readonly [
  subject: SubjectState,
  knownClass: TokenClass,
  contradictions: number | null,
  facts: TokenFacts | null,
  readAt: string,
  /** Hexadecimal digits. */
  givers: string | null,
  labelRevision: number,
  /** Null where the statement does not look them up. */
  labels: readonly LabelEntry[] | null,
  /** Null where balances are known to follow from transfers. Read by {@link readReadings}. */
  readings: string | null,
];

type TokenFacts = readonly [
  isVerified: boolean,
  createdBlock: number | null,
  decimals: number | null,
  totalSupply: string | null,
  areDue: boolean,
  isCreationDue: boolean,
];

/** How a page is read. */
export interface OwnersReading {
  /** Of {@link OWNERS}. @default {@link OWNERS}.select */
  readonly select?: string;
  /** Whether the statement is to look labels up; their revision comes anyway. @default true */
  readonly hasLabels?: boolean;
  /** Whether it is to read what contracts said, where that counts: see {@link OwnersState}. @default true */
  readonly hasReadings?: boolean;
}

interface OwnersGiven extends Required<OwnersReading> {
  readonly chain: Chain;
  readonly query: TokenOwnersQuery;
}

/**
 * The statement behind a page, which gives one row: one range of `erc20_holders_by_balance` that stops after limit + 1 owners, or probes of the key
 * (token-owners.explain.test.ts), and beside them as `state` the token's facts, coverage and labels: {@link OwnersState}. What contracts said is read by a
 * range of its own, where it counts at all: without it the index alone has a page. The state is one JSON array, since the driver takes longer for a
 * column than for all that is in it, and each of its tables a subquery of its own, since joining their rows takes longer than reading them. As a single
 * statement it has a single snapshot, and no other way to the database and back.
 */
export function tokenOwnersStatement(chain: Chain, query: TokenOwnersQuery, reading: OwnersReading = {}): Statement {
  const { select = OWNERS.select, hasLabels = true, hasReadings = true } = reading;
  return ownersStatement({ chain, query, select, hasLabels, hasReadings });
}

const ownersStatement = shapedStatement(shapeOf, (given: OwnersGiven, bind) => {
  const { chain, query, select, hasLabels, hasReadings } = given;
  const isCoin = isWrappedCoin(given);
  const token = bind(({ query }) => addressBytes(query.token));
  const chainId = bind(({ chain }) => chain.id);
  const subject = { kind: 'contract', subject: token, chainId, dataset: erc20Transfers.name } as const;
  const unlessCounted = isCoin ? "(SELECT 'live' FROM covered WHERE NOT is_counted)" : 'NULL';
  const ofToken = `token = ${token} AND chain_id = ${chainId}`;
  const held = heldRows(query, ofToken, bind);
  const supplyBlock = '(SELECT supply_block FROM facts WHERE is_supply_recent)';
  // Of other tokens nothing is wrapped.
  const wraps = { wrappedNative: isCoin ? chain.wrappedNative : null };
  const changed = changeAbove(wraps, `${token}::bytea`, supplyBlock, chainId, (value) => bind(() => value));
  const said = hasReadings ? `), said AS (\n  ${held(readingColumns(bind))}\n` : '';
  return `WITH ${coverageOfToken(chain, query.token, subject)}, facts AS MATERIALIZED (
  SELECT verified, created_block, decimals, total_supply, supply_block, facts_status = 'known' AS is_read,
    ${IS_SUPPLY_RECENT} AS is_supply_recent, standard IS NOT NULL AND ${IS_CREATION_DUE} AS is_creation_due
  FROM tokens WHERE address = ${token} AND chain_id = ${chainId}
), classed AS MATERIALIZED (
  SELECT coalesce(${unlessCounted}, (SELECT class FROM erc20_token_classes WHERE ${ofToken}
    AND NOT (class = 'none' AND told_at < now() - ${ASK_AGAIN})), 'new') AS class
), page AS (
  ${held('account, balance, anchor_block')}
${said})
SELECT json_build_array(${subjectState(subject, erc20TokenHolders)}, (SELECT class FROM classed),
    (SELECT contradictions FROM erc20_holder_counts WHERE ${ofToken}),
    (SELECT json_build_array(verified, created_block, decimals, total_supply::text, NOT is_read OR NOT is_supply_recent OR EXISTS (${changed}), is_creation_due)
      FROM facts),
    clock_timestamp(), ${givers(query, ofToken)}, ${LABEL_REVISION}, ${hasLabels ? labelsOf('ARRAY(SELECT account FROM page)', chainId) : 'NULL::json'},
    ${hasReadings ? READINGS : 'NULL'}) AS state, owners.*
FROM (SELECT ${select} FROM page) AS owners`;
});

function shapeOf(given: OwnersGiven): string {
  const { chain, query, select, hasLabels, hasReadings } = given;
  const { wanted } = query;
  const rows = 'accounts' in wanted ? 'accounts' : `${wanted.order} ${wanted.after === null ? 'first' : 'behind'}`;
  // Of the wrapped coin the text has the chain's address.
  return `${rows} ${isWrappedCoin(given) ? chain.id : 'token'} ${hasLabels} ${hasReadings} ${select === OWNERS.select ? '' : select}`;
}

function isWrappedCoin({ chain, query }: OwnersGiven): boolean {
  return query.token === chain.wrappedNative;
}

/** After this a contract that answered nothing is asked again. */
const ASK_AGAIN = "interval '24 hours'";

/** Of one request. */
const GIVERS_MAX = 100;

/**
 * Who only gave, as far as it is known, may hold the most: accounts below zero are read before a list begins. There are none in a whole history. As
 * hexadecimal digits one after the other; null for none.
 */
function givers({ wanted }: TokenOwnersQuery, ofToken: string): string {
  if ('accounts' in wanted || wanted.after !== null) return 'NULL';
  return `(SELECT encode(string_agg(account, ''), 'hex') FROM (SELECT account FROM erc20_holders
    WHERE ${ofToken} AND balance < 0 ORDER BY balance LIMIT ${GIVERS_MAX}) AS giver)`;
}

/** What {@link READINGS} are made of. */
function readingColumns(bind: (pick: (given: OwnersGiven) => unknown) => string): string {
  const maxAge = bind(({ query }) => query.liveMaxAgeMs / 1_000);
  const freshFrom = `least(now() - make_interval(secs => ${maxAge}::float8), ${bind(({ query }) => query.freshFrom)}::timestamptz)`;
  return `account, anchor_block, anchor_value, anchored_at >= (SELECT ${freshFrom}) AS is_fresh`;
}

/** Columns of the accounts that are wanted, in the order of the page. */
function heldRows(
  { wanted }: TokenOwnersQuery,
  ofToken: string,
  bind: (pick: (given: OwnersGiven) => unknown) => string,
): (columns: string) => string {
  if ('accounts' in wanted) {
    const accounts = bind(({ query }) => 'accounts' in query.wanted && query.wanted.accounts.map(addressBytes));
    return (columns) => `SELECT known.* FROM unnest(${accounts}::bytea[]) WITH ORDINALITY AS asked(owner, place)
    CROSS JOIN LATERAL (SELECT ${columns} FROM erc20_holders WHERE ${ofToken} AND account = asked.owner LIMIT 1) AS known
  ORDER BY asked.place`;
  }
  const { order, after } = wanted;
  const most = bind(({ query }) => 'limit' in query.wanted && query.wanted.limit + 1);
  const beyond =
    after === null
      ? ''
      : ` AND (balance, account) ${order === 'DESC' ? '<' : '>'} (${bind((given) => placeOf(given)?.balance)}::numeric, ${bind(accountOf)}::bytea)`;
  return (columns) => `SELECT ${columns} FROM erc20_holders WHERE ${ofToken} AND balance > 0${beyond}
    ORDER BY balance ${order}, account ${order} LIMIT ${most}`;
}

function placeOf({ query: { wanted } }: OwnersGiven): OwnerPlace | null {
  return 'accounts' in wanted ? null : wanted.after;
}

function accountOf(given: OwnersGiven): Buffer | null {
  const place = placeOf(given);
  return place === null ? null : addressBytes(place.account);
}
