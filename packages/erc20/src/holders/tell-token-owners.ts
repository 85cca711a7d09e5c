import type { AddressLabel, CurrentCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, errorText } from '@chainstead/core';
import { type ReadingContext, SILENCE_MS, StateUnavailableError } from '@chainstead/state';
import type { createKeptSubjects } from '@chainstead/sync';
import { refreshTokenFacts } from '../token-facts/get-token-facts.ts';
import { getTokens } from '../token-facts/token-rows.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { getOwnersPage, type OwnerRow, type OwnersKept, type OwnersPage } from './get-owners-page.ts';
import { OWNERS_NOW } from './holder-questions.ts';
import type { OwnerPlace, TokenOwnersQuery } from './token-owners-statement.ts';

/** What owners are told with. */
export interface OwnerSources extends ReadingContext, OwnersKept {
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
  /** Where the page before ended; null for the first. */
  readonly after: OwnersPlace | null;
}

/** Where a page ended. */
export interface OwnersPlace extends OwnerPlace {
  /** Whether the list lacks accounts of which it is not known what they hold: it is complete on none of its pages then. */
  readonly isShort: boolean;
}

export interface TokenOwner {
  readonly account: Address;
  /** Base units, decimal digits, above zero. */
  readonly balance: string;
  readonly label: AddressLabel;
}

export interface TokenOwners extends CurrentCoverage {
  /** Null until they were read, or where the contract tells none. */
  readonly decimals: number | null;
  /** Base units, decimal digits. */
  readonly totalSupply: string | null;
  /** In the order of their balances. */
  readonly owners: readonly TokenOwner[];
  /** The last one that was looked at, whether it is shown or not, where others follow; null: none do. */
  readonly next: OwnersPlace | null;
  /** Whether nobody is missing, and nobody stands elsewhere than where balances put them. */
  readonly isComplete: boolean;
}

/** Who holds nothing after all makes room for others: so often a page looks for them. */
const ROUNDS_MAX = 5;

/**
 * A page of who holds a token: accounts in the order of what is kept of their balances, each with what the contract says, which is asked where
 * that is not known. Who holds nothing is left out, and what the contract does not say in time; the reading goes on. Where nothing is to be asked, all
 * of it is one statement.
 */
export async function tellTokenOwners(
  sources: OwnerSources,
  chain: Chain,
  { token, order, limit, after }: OwnersRequest,
): Promise<TokenOwners> {
  const { database, waitMs, liveMaxAgeMs } = sources;
  const given = { token, liveMaxAgeMs };
  const read = (wanted: TokenOwnersQuery['wanted']): Promise<OwnersPage> =>
    getOwnersPage(database, sources, chain, { ...given, freshFrom: null, wanted });
  const first = { order, limit, after };
  let page = await openList(sources, chain, token, () => read(first));
  const ends = performance.now() + waitMs;
  if (page.givers.length > 0) {
    await askOf(sources, chain, { token, accounts: page.givers }, waitMs);
    page = await read(first);
  }
  const owners: TokenOwner[] = [];
  const isShort = after?.isShort ?? page.givers.length > 0;
  let isTold = !isShort;
  /** Then they stand in order. */
  let isAsKept = true;
  let place: OwnerPlace | null = after;
  for (let round = 1; ; round++) {
    const left = limit - owners.length;
    if (round > 1) page = await read({ order, limit: left, after: place });
    const candidates = page.rows.slice(0, left);
    const patience = Math.max(0, ends - performance.now());
    const known = await askContract(sources, chain, { ...given, page, candidates }, patience);
    for (const { account, balance, told, label } of known.rows) {
      if (told === null) isTold = false;
      else if (told !== '0') owners.push({ account, balance: told, label });
      if (told !== balance) isAsKept = false;
    }
    const hasNext = page.rows.length > left;
    place = candidates.at(-1) ?? place;
    if (hasNext && owners.length < limit && round < ROUNDS_MAX && performance.now() < ends) continue;
    const adds = (known.class === 'sum' || known.class === 'new') && known.contradictions === 0;
    return {
      ...page.coverage,
      decimals: page.decimals,
      totalSupply: page.totalSupply,
      owners: isAsKept
        ? owners
        : owners.toSorted((one, other) => (order === 'DESC' ? byBalance(other, one) : byBalance(one, other))),
      next: hasNext && place !== null ? { balance: place.balance, account: place.account, isShort } : null,
      isComplete: page.coverage.indexed.complete && adds && isTold,
    };
  }
}

/** The list's first rows, once the token's transfers are counted and its contract was asked for what it says of itself, as far as that comes in time. */
async function openList(
  sources: OwnerSources,
  chain: Chain,
  token: Address,
  read: () => Promise<OwnersPage>,
): Promise<OwnersPage> {
  const { kept, waitMs } = sources;
  const page = await read();
  const isKept = page.coverage.isBuilt && page.isAskNoted;
  const areFactsKnown = !page.areFactsDue && !page.isCreationDue;
  if (isKept && areFactsKnown) return page;
  await Promise.all([
    areFactsKnown ? undefined : readFacts(sources, chain, token),
    isKept ? undefined : kept.keep(chain, { dataset: erc20Transfers, state: erc20TokenHolders }, token, waitMs),
  ]);
  return read();
}

async function readFacts(sources: OwnerSources, chain: Chain, token: Address): Promise<void> {
  const addresses = [token];
  const known = await getTokens(sources.database, chain, addresses);
  await refreshTokenFacts(sources, chain, { addresses, known });
}

/** Of digits without zeros before them. */
function byBalance(one: TokenOwner, other: TokenOwner): number {
  if (one.balance.length !== other.balance.length) return one.balance.length - other.balance.length;
  if (one.balance !== other.balance) return one.balance < other.balance ? -1 : 1;
  return one.account < other.account ? -1 : 1;
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
): Promise<Pick<OwnersPage, 'rows' | 'class' | 'contradictions'>> {
  const due = candidates.filter(({ isDue }) => isDue).map(({ account }) => account);
  if (due.length === 0 || page.class === 'none' || !page.coverage.isBuilt) return { ...page, rows: candidates };
  await askOf(sources, chain, { token: given.token, accounts: due }, waitMs);
  // What came too late was kept part by part.
  const wanted = { accounts: candidates.map(({ account }) => account) };
  const known = await getOwnersPage(sources.database, sources, chain, {
    ...given,
    freshFrom: page.readAt,
    wanted,
  });
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
    await questions.ask(
      chain,
      OWNERS_NOW,
      { token, accounts: accounts.toSorted() },
      { waitMs, fruitlessMs: SILENCE_MS },
    );
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    logger.debug(
      { chain: chain.key, token, error: errorText(error) },
      'A contract could not be asked what accounts hold',
    );
  }
}
