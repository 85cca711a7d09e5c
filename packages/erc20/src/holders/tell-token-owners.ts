import { readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, errorText } from '@chainstead/core';
import { addressBytes, type Database, hexText } from '@chainstead/db';
import { type ReadingContext, StateUnavailableError } from '@chainstead/state';
import type { createKeptSubjects } from '@chainstead/sync';
import { getTokenFacts, type TokenFacts } from '../token-facts/get-token-facts.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { OWNERS_NOW } from './holder-questions.ts';
import { type OwnerPlace, type TokenOwnersQuery, tokenOwnersStatement } from './token-owners-statement.ts';

/** What owners are told with. */
export interface OwnerSources extends ReadingContext {
  readonly kept: ReturnType<typeof createKeptSubjects>;
  /** How long a request waits for what it has caused. Milliseconds. */
  readonly waitMs: number;
  /** So old a reading may be where transfers don't tell balances. Milliseconds. */
  readonly liveMaxAgeMs: number;
}

export interface OwnersRequest {
  readonly token: Address;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  readonly after: OwnerPlace | null;
}

/** Base units, above zero. */
export interface TokenOwner {
  readonly account: Address;
  readonly balance: bigint;
}

export interface TokenOwners extends SubjectCoverage {
  readonly facts: TokenFacts | null;
  /** In the order of their balances. */
  readonly owners: readonly TokenOwner[];
  /** The last one that was looked at, whether it is shown or not, where others follow; null: none do. */
  readonly next: OwnerPlace | null;
  /** Whether nobody is missing, and nobody stands elsewhere than where balances put them. */
  readonly isComplete: boolean;
}

/** Who holds nothing after all makes room for others: so often a page looks for them. */
const ROUNDS_MAX = 5;

/**
 * A page of who holds a token: accounts in the order of what is kept of their balances, each with what the contract says, which is asked where
 * that is not known. Who holds nothing is left out, and what the contract does not say in time; the reading goes on.
 */
export async function tellTokenOwners(
  sources: OwnerSources,
  chain: Chain,
  { token, order, limit, after }: OwnersRequest,
): Promise<TokenOwners> {
  const { database, kept, waitMs, liveMaxAgeMs } = sources;
  const [[facts = null]] = await Promise.all([
    getTokenFacts(sources, chain, [token]).then(({ tokens }) => tokens),
    kept.keep(chain, { dataset: erc20Transfers, state: erc20TokenHolders }, token, waitMs),
  ]);
  const given = {
    token,
    firstBlock: facts?.createdBlock ?? chain.firstBlock,
    isVerified: facts?.verified ?? false,
    liveMaxAgeMs,
  };
  const ends = performance.now() + waitMs;
  if (after === null) await readGivers(sources, chain, token);
  const owners: TokenOwner[] = [];
  let isTold = true;
  let place = after;
  for (let round = 1; ; round++) {
    const wanted = { order, limit: limit - owners.length, after: place };
    const page = await readOwners(database, chain, { ...given, freshFrom: null, wanted });
    const candidates = page.rows.slice(0, wanted.limit);
    const patience = Math.max(0, ends - performance.now());
    const known = await askContract(sources, chain, { ...given, page, candidates }, patience);
    for (const { account, told } of known.rows)
      if (told === null) isTold = false;
      else if (told > 0n) owners.push({ account, balance: told });
    const hasNext = page.rows.length > wanted.limit;
    place = candidates.at(-1) ?? place;
    if (hasNext && owners.length < limit && round < ROUNDS_MAX && performance.now() < ends) continue;
    const adds = (known.class === 'sum' || known.class === 'new') && known.contradictions === 0;
    return {
      ...page.coverage,
      facts,
      owners: owners.toSorted((one, other) => (order === 'DESC' ? byBalance(other, one) : byBalance(one, other))),
      next: hasNext && place !== null ? { balance: place.balance, account: place.account } : null,
      isComplete: page.coverage.indexed.complete && adds && isTold,
    };
  }
}

/** Of one request. */
const GIVERS_MAX = 100;

/** Who only gave, as far as it is known, may hold the most: accounts below zero are read before a list begins. There are none in a whole history. */
async function readGivers(sources: OwnerSources, chain: Chain, token: Address): Promise<void> {
  const rows = await sources.database.query<{ account: Address }>(
    `SELECT ${hexText('account')} AS account FROM (SELECT account FROM erc20_holders WHERE token = $1 AND chain_id = $2 AND balance < 0
      ORDER BY balance LIMIT ${GIVERS_MAX}) AS giver`,
    [addressBytes(token), chain.id],
  );
  const accounts = rows.map(({ account }) => account);
  if (accounts.length > 0) await askOf(sources, chain, { token, accounts }, sources.waitMs);
}

function byBalance(one: TokenOwner, other: TokenOwner): number {
  if (one.balance !== other.balance) return one.balance < other.balance ? -1 : 1;
  return one.account < other.account ? -1 : 1;
}

interface OwnerRow extends OwnerPlace {
  /** What can be shown; null: nothing. */
  readonly told: bigint | null;
  /** Whether the contract is to be asked. */
  readonly isDue: boolean;
}

/** Whether transfers tell balances; `new`: nobody knows. */
type TokenClass = 'sum' | 'live' | 'none' | 'new';

interface OwnersPage {
  readonly coverage: SubjectCoverage;
  readonly class: TokenClass;
  readonly contradictions: number;
  readonly readAt: Date;
  readonly rows: readonly OwnerRow[];
}

interface StatementRow extends SubjectColumns {
  read_at: Date;
  class: TokenClass;
  contradictions: number;
  account: Address | null;
  balance: string | null;
  told: string | null;
  is_due: boolean;
}

async function readOwners(database: Database, chain: Chain, query: TokenOwnersQuery): Promise<OwnersPage> {
  const { text, values } = tokenOwnersStatement(chain, query);
  const rows = await database.query<StatementRow>(text, values);
  const [first] = rows;
  return {
    coverage: readSubject(chain, first, query.firstBlock),
    class: first?.class ?? 'new',
    contradictions: first?.contradictions ?? 0,
    readAt: first?.read_at ?? new Date(),
    rows: rows.flatMap(({ account, balance, told, is_due: isDue }) =>
      account === null || balance === null
        ? []
        : [{ account, balance, told: told === null ? null : BigInt(told), isDue }],
    ),
  };
}

type Candidates = Omit<TokenOwnersQuery, 'freshFrom' | 'wanted'> & {
  readonly page: OwnersPage;
  readonly candidates: readonly OwnerRow[];
};

/** The candidates as they are known once the contract was asked of those that are due. */
async function askContract(
  sources: OwnerSources,
  chain: Chain,
  { page, candidates, ...given }: Candidates,
  waitMs: number,
): Promise<Omit<OwnersPage, 'coverage'>> {
  const due = candidates.filter(({ isDue }) => isDue).map(({ account }) => account);
  if (due.length === 0 || page.class === 'none' || !page.coverage.isBuilt) return { ...page, rows: candidates };
  await askOf(sources, chain, { token: given.token, accounts: due }, waitMs);
  // What came too late was kept part by part.
  const wanted = { accounts: candidates.map(({ account }) => account) };
  const known = await readOwners(sources.database, chain, { ...given, freshFrom: page.readAt, wanted });
  const now = new Map(known.rows.map((row) => [row.account, row.told]));
  return { ...known, rows: candidates.map((row) => ({ ...row, told: now.get(row.account) ?? null })) };
}

/** Waits for what a contract says of accounts, which is kept. What does not come in time is kept later. */
async function askOf(
  { questions, logger }: OwnerSources,
  chain: Chain,
  { token, accounts }: { readonly token: Address; readonly accounts: readonly Address[] },
  waitMs: number,
): Promise<void> {
  try {
    await questions.ask(chain, OWNERS_NOW, { token, accounts: accounts.toSorted() }, { waitMs });
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    logger.debug(
      { chain: chain.key, token, error: errorText(error) },
      'A contract could not be asked what accounts hold',
    );
  }
}
