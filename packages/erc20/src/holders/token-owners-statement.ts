import { LABEL_REVISION, labelsOf, subjectColumns, subjectHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Bind, type Statement } from '@chainstead/db';
import { digits, hex, int4, packedRows } from '@chainstead/db/packed-rows';
import { isAskNoted } from '@chainstead/sync';
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

/** What contracts said of accounts, where that is not known to follow from transfers; else null. Read by {@link readReadings}. */
const READINGS = `string_agg(encode(account, 'hex') || CASE WHEN is_fresh THEN '+' ELSE '-' END || anchor_value::text, ',')
    FILTER (WHERE (SELECT known_class <> 'sum' FROM about) AND anchor_block IS NOT NULL) AS readings`;

/** What a contract said of an account. */
export interface OwnerReading {
  /** Base units, decimal digits. */
  readonly said: string;
  /** Whether it was asked lately. */
  readonly isFresh: boolean;
}

/** The column `readings` of the statement. */
export function readReadings(readings: string | null): ReadonlyMap<Address, OwnerReading> {
  const found = readings?.matchAll(/([0-9a-f]{40})([+-])(\d+)/g) ?? [];
  return new Map(
    Array.from(found, ([, account, sign, said = '']) => [`0x${account}` as Address, { said, isFresh: sign === '+' }]),
  );
}

/**
 * The statement behind a page, which gives one row: one range of `erc20_holders_by_balance` that stops after limit + 1 owners, or probes of the key
 * (token-owners.explain.test.ts), and beside them as `state` the token's facts, coverage and labels. They are JSON, since the driver takes longer for a
 * column than for all that is in it. As a single one it has a single snapshot, and no other way to the database and back.
 * @param select of {@link OWNERS}
 * @param hasLabels whether the statement is to look labels up; their revision comes anyway
 */
export function tokenOwnersStatement(
  chain: Chain,
  query: TokenOwnersQuery,
  select = OWNERS.select,
  hasLabels = true,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const token = bind(addressBytes(query.token));
  const chainId = bind(chain.id);
  const subject = {
    kind: 'contract',
    subject: token,
    chainId,
    dataset: erc20Transfers.name,
    states: [erc20TokenHolders],
  } as const;
  const isCoin = query.token === chain.wrappedNative;
  const unlessCounted = isCoin ? "(SELECT 'live' FROM covered WHERE NOT is_counted)" : 'NULL';
  const freshFrom = `least(now() - make_interval(secs => ${bind(query.liveMaxAgeMs / 1_000)}::float8), ${bind(query.freshFrom)}::timestamptz)`;
  const held = heldRows(query, { token, chainId, freshFrom }, bind);
  const supplyBlock = '(SELECT supply_block FROM about WHERE is_supply_recent)';
  // Of other tokens nothing is wrapped.
  const wraps = { wrappedNative: isCoin ? chain.wrappedNative : null };
  const changed = changeAbove(wraps, `${token}::bytea`, supplyBlock, chainId, bind);
  const text = `WITH ${coverageOfToken(chain, query.token, subject)}, facts AS MATERIALIZED (
  SELECT verified, created_block, decimals, total_supply, supply_block, facts_status = 'known' AS is_read,
    ${IS_SUPPLY_RECENT} AS is_supply_recent, standard IS NOT NULL AND ${IS_CREATION_DUE} AS is_creation_due
  FROM tokens WHERE address = ${token} AND chain_id = ${chainId}
), about AS MATERIALIZED (
  SELECT known_class, coalesce(counts.contradictions, 0) AS contradictions, coalesce(facts.verified, false) AS is_verified,
    coalesce(facts.created_block, ${bind(chain.firstBlock)}::bigint) AS first_block, facts.decimals, facts.total_supply::text AS total_supply, facts.supply_block,
    coalesce(facts.is_read, false) AS is_read, coalesce(facts.is_supply_recent, false) AS is_supply_recent,
    coalesce(facts.is_creation_due, false) AS is_creation_due
FROM (VALUES (true)) AS one
LEFT JOIN erc20_holder_counts AS counts ON counts.token = ${token} AND counts.chain_id = ${chainId}
LEFT JOIN facts ON true
CROSS JOIN LATERAL (SELECT coalesce(${unlessCounted}, (SELECT class FROM erc20_token_classes AS known WHERE known.token = ${token} AND known.chain_id = ${chainId}
    AND NOT (class = 'none' AND told_at < now() - ${ASK_AGAIN})),
  'new') AS known_class) AS classed
), page AS MATERIALIZED (
  ${held}
), state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)}, ${isAskNoted(chainId, token, erc20TokenHolders)} AS is_ask_noted,
    ${hasLabels ? labelsOf('ARRAY(SELECT account FROM page)', chainId) : 'NULL::json'} AS labels, ${LABEL_REVISION} AS label_revision
  FROM covered LEFT JOIN ${subjectHistory(subject)}
)
SELECT json_build_object(${columnsOf('state', OF_STATE)}, ${columnsOf('about', OF_TOKEN)}, 'read_at', clock_timestamp(),
  'are_facts_due', NOT about.is_read OR NOT about.is_supply_recent OR EXISTS (${changed}), 'givers', ${givers(query, { token, chainId })}) AS state, owners.*
FROM state CROSS JOIN about CROSS JOIN (SELECT ${select}, ${READINGS} FROM page) AS owners`;
  return { text, values };
}

/** Named one by one: of what Citus has read before there is no whole row. */
function columnsOf(relation: string, names: readonly string[]): string {
  return names.map((name) => `'${name}', ${relation}.${name}`).join(', ');
}

const OF_STATE = [
  'indexed_from',
  'indexed_to',
  'chain_to',
  'is_built',
  'status',
  'waits',
  'calls_made',
  'calls_estimated',
  'error_message',
  'is_ask_noted',
  'labels',
  'label_revision',
];
const OF_TOKEN = [
  'known_class',
  'is_verified',
  'contradictions',
  'first_block',
  'decimals',
  'total_supply',
  'is_creation_due',
];

/** After this a contract that answered nothing is asked again. */
const ASK_AGAIN = "interval '24 hours'";

interface OfToken {
  readonly token: string;
  readonly chainId: string;
}

/** Of one request. */
const GIVERS_MAX = 100;

/**
 * Who only gave, as far as it is known, may hold the most: accounts below zero are read before a list begins. There are none in a whole history. As
 * hexadecimal digits one after the other; null for none.
 */
function givers({ wanted }: TokenOwnersQuery, { token, chainId }: OfToken): string {
  if ('accounts' in wanted || wanted.after !== null) return 'NULL';
  return `(SELECT encode(string_agg(account, ''), 'hex') FROM (SELECT account FROM erc20_holders
    WHERE token = ${token} AND chain_id = ${chainId} AND balance < 0 ORDER BY balance LIMIT ${GIVERS_MAX}) AS giver)`;
}

/** What {@link OWNERS} are made of, in the order of the page. */
function heldRows(
  { wanted }: TokenOwnersQuery,
  { token, chainId, freshFrom }: OfToken & { readonly freshFrom: string },
  bind: Bind,
): string {
  const columns = `account, balance, anchor_block, anchor_value, anchored_at >= (SELECT ${freshFrom}) AS is_fresh`;
  const ofToken = `token = ${token} AND chain_id = ${chainId}`;
  if ('accounts' in wanted)
    return `SELECT known.* FROM unnest(${bind(wanted.accounts.map(addressBytes))}::bytea[]) WITH ORDINALITY AS asked(owner, place)
    CROSS JOIN LATERAL (SELECT ${columns} FROM erc20_holders WHERE ${ofToken} AND account = asked.owner LIMIT 1) AS known
  ORDER BY asked.place`;
  const { order, limit, after } = wanted;
  const beyond =
    after === null
      ? ''
      : ` AND (balance, account) ${order === 'DESC' ? '<' : '>'} (${bind(after.balance)}::numeric, ${bind(addressBytes(after.account))}::bytea)`;
  return `SELECT ${columns} FROM erc20_holders WHERE ${ofToken} AND balance > 0${beyond}
    ORDER BY balance ${order}, account ${order} LIMIT ${bind(limit + 1)}`;
}
