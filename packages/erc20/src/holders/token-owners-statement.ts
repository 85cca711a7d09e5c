import { subjectColumns, subjectCoverage, subjectHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexText, type Statement } from '@chainstead/db';
import { IS_SOUND, isWhole } from '../balances/told-balances.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';

/** A place in the order of owners: what is kept of the balance, base units, and who has it. */
export interface OwnerPlace {
  readonly balance: string;
  readonly account: Address;
}

/** What to read. */
export interface TokenOwnersQuery {
  readonly token: Address;
  /** Below it there is nothing of the token. */
  readonly firstBlock: number;
  /** Whether a list vouches for the token: then transfers are believed until its contract is asked. */
  readonly isVerified: boolean;
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

/**
 * The statement behind a page: one range of `erc20_holders_by_balance` that stops after limit + 1 owners, or probes of the key
 * (token-owners.explain.test.ts).
 */
export function tokenOwnersStatement(chain: Chain, query: TokenOwnersQuery): Statement {
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
  const isWrapped = query.token === chain.wrappedNative;
  const freshFrom = `least(now() - make_interval(secs => ${bind(query.liveMaxAgeMs / 1_000)}::float8), ${bind(query.freshFrom)}::timestamptz)`;
  const addsUp = `(known_class = 'sum' OR known_class = 'new' AND ${bind(query.isVerified)}::boolean)`;
  const isBySum = `${addsUp} AND held.anchor_block IS NULL AND coalesce(counts.contradictions, 0) = 0
    AND held.total >= 0 AND ${isWhole(bind(query.firstBlock))}`;
  const text = `WITH ${subjectCoverage(subject)}
SELECT ${subjectColumns(subject)}, clock_timestamp() AS read_at, known_class AS class, coalesce(counts.contradictions, 0) AS contradictions,
  ${hexText('held.account')} AS account, held.balance::text AS balance, told.read_balance IS NULL AS is_due,
  coalesce(told.read_balance, CASE WHEN ${isBySum} THEN held.total END)::text AS told
FROM covered
LEFT JOIN ${subjectHistory(subject)}
LEFT JOIN erc20_holder_counts AS counts ON counts.token = ${token} AND counts.chain_id = ${chainId}
CROSS JOIN LATERAL (SELECT coalesce(${isWrapped ? "'live'" : 'NULL'}, (SELECT class FROM erc20_token_classes AS known WHERE known.token = ${token} AND known.chain_id = ${chainId}
    AND NOT (class = 'none' AND told_at < now() - ${ASK_AGAIN})),
  'new') AS known_class) AS classed
LEFT JOIN LATERAL (${heldRows(query, { token, chainId }, bind)}) AS held ON true
LEFT JOIN LATERAL (SELECT CASE known_class
    WHEN 'live' THEN CASE WHEN held.anchored_at >= ${freshFrom} THEN held.anchor_value END
    WHEN 'none' THEN NULL
    ELSE CASE WHEN ${IS_SOUND} AND (${addsUp} OR held.since = 0) AND held.anchor_value + held.since >= 0 THEN held.anchor_value + held.since END
    END AS read_balance) AS told ON true
ORDER BY held.place`;
  return { text, values };
}

/** After this a contract that answered nothing is asked again. */
const ASK_AGAIN = "interval '24 hours'";

const COLUMNS = 'account, balance, total, anchor_block, anchor_value, since, anchored_at';

function heldRows(
  { wanted }: TokenOwnersQuery,
  { token, chainId }: { readonly token: string; readonly chainId: string },
  bind: (value: unknown) => string,
): string {
  const ofToken = `token = ${token} AND chain_id = ${chainId}`;
  if ('accounts' in wanted)
    return `SELECT known.*, asked.place FROM unnest(${bind(wanted.accounts.map(addressBytes))}::bytea[]) WITH ORDINALITY AS asked(owner, place)
    CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM erc20_holders WHERE ${ofToken} AND account = asked.owner LIMIT 1) AS known`;
  const { order, limit, after } = wanted;
  const beyond =
    after === null
      ? ''
      : ` AND (balance, account) ${order === 'DESC' ? '<' : '>'} (${bind(after.balance)}::numeric, ${bind(addressBytes(after.account))}::bytea)`;
  return `SELECT ${COLUMNS}, row_number() OVER (ORDER BY balance ${order}, account ${order}) AS place FROM (
    SELECT ${COLUMNS} FROM erc20_holders WHERE ${ofToken} AND balance > 0${beyond}
    ORDER BY balance ${order}, account ${order} LIMIT ${bind(limit + 1)}) AS page`;
}
