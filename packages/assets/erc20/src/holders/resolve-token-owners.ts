import type { Chain } from '@chainstead/chains';
import { type Address, waitLeft } from '@chainstead/core';
import { type ReadingContext, SILENCE_MS, unlessUnavailable } from '@chainstead/node-reads/requests';
import type { AddressLabel } from '@chainstead/pages';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { getTokens, refreshTokenFacts } from '../token-facts/get-token-facts.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { OWNERS_NOW } from './holder-questions.ts';
import {
  getOwnersPage,
  type OwnerPlace,
  type OwnersCache,
  type OwnersPage,
  type TokenOwnersQuery,
} from './token-owners-statement.ts';

interface OwnerSources extends ReadingContext, OwnersCache {
  readonly projections: SubjectProjections;
  readonly liveMaxAgeMs: number;
}

interface OwnersRequest {
  readonly token: Address;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  /** `isShort`: accounts with an unknown balance are left out, so no page is complete. */
  readonly after: (OwnerPlace & { readonly isShort: boolean }) | null;
}

export interface TokenOwner {
  readonly account: Address;
  readonly balance: string;
  readonly label: AddressLabel;
}

/** Per page: accounts that turn out to hold nothing are replaced by others. */
const ROUNDS_MAX = 5;

/** In order of stored balances; unknown ones are read, late ones left out. */
export async function resolveTokenOwners(
  sources: OwnerSources,
  chain: Chain,
  { token, order, limit, after }: OwnersRequest,
) {
  const { database, liveMaxAgeMs } = sources;
  const query = { token, liveMaxAgeMs };
  const read = (wanted: TokenOwnersQuery['wanted']): Promise<OwnersPage> =>
    getOwnersPage(database, sources, chain, { ...query, freshFrom: null, wanted });
  const first = { order, limit, after };
  let page = await openList(sources, chain, token, () => read(first));
  if (page.givers.length > 0) {
    await fetchOf(sources, chain, { token, accounts: page.givers });
    page = await read(first);
  }
  const owners: TokenOwner[] = [];
  const isShort = after?.isShort ?? page.givers.length > 0;
  let isReported = !isShort;
  let isInStoredOrder = true;
  let place: OwnerPlace | null = after;
  for (let round = 1; ; round++) {
    const left = limit - owners.length;
    if (round > 1) page = await read({ order, limit: left, after: place });
    const candidates = page.rows.slice(0, left);
    const known = await fetchContract(sources, chain, { ...query, page, candidates });
    for (const { account, balance, reported, label } of known.rows) {
      if (reported === null) isReported = false;
      else if (reported !== '0') owners.push({ account, balance: reported, label });
      if (reported !== balance) isInStoredOrder = false;
    }
    const hasNext = page.rows.length > left;
    place = candidates.at(-1) ?? place;
    if (hasNext && owners.length < limit && round < ROUNDS_MAX && waitLeft() > 0) continue;
    const adds = (known.class === 'sum' || known.class === 'new') && known.contradictions === 0;
    return {
      ...page.coverage,
      decimals: page.decimals,
      totalSupply: page.totalSupply,
      owners: isInStoredOrder
        ? owners
        : owners.toSorted((a, b) => (order === 'DESC' ? byBalance(b, a) : byBalance(a, b))),
      next: hasNext && place !== null ? { balance: place.balance, account: place.account, isShort } : null,
      isComplete: page.coverage.indexed.complete && adds && isReported,
    };
  }
}

/** Counts transfers and reads metadata first, as far as time permits. */
async function openList(
  sources: OwnerSources,
  chain: Chain,
  token: Address,
  read: () => Promise<OwnersPage>,
): Promise<OwnersPage> {
  const { database, projections } = sources;
  const page = await read();
  const isKept = page.coverage.isBuilt && page.isAskNoted;
  const areFactsKnown = !page.areFactsDue && !page.isCreationDue;
  if (isKept && areFactsKnown) return page;
  const readFacts = async (): Promise<void> => {
    const known = await getTokens(database, chain, [token]);
    await refreshTokenFacts(sources, chain, { addresses: [token], known });
  };
  await Promise.all([
    areFactsKnown ? undefined : readFacts(),
    isKept ? undefined : projections.keep(chain, { dataset: erc20Transfers, state: erc20TokenHolders }, token),
  ]);
  return read();
}

/** For digits without leading zeros. */
function byBalance(a: TokenOwner, b: TokenOwner): number {
  if (a.balance.length !== b.balance.length) return a.balance.length - b.balance.length;
  if (a.balance !== b.balance) return a.balance < b.balance ? -1 : 1;
  return a.account < b.account ? -1 : 1;
}

async function fetchContract(
  sources: OwnerSources,
  chain: Chain,
  {
    page,
    candidates,
    ...query
  }: Pick<TokenOwnersQuery, 'token' | 'liveMaxAgeMs'> & {
    readonly page: OwnersPage;
    readonly candidates: OwnersPage['rows'];
  },
): Promise<Pick<OwnersPage, 'rows' | 'class' | 'contradictions'>> {
  const due = candidates.filter(({ isDue }) => isDue).map(({ account }) => account);
  if (due.length === 0 || page.class === 'none' || !page.coverage.isBuilt) return { ...page, rows: candidates };
  await fetchOf(sources, chain, { token: query.token, accounts: due });
  const wanted = { accounts: candidates.map(({ account }) => account) };
  const known = await getOwnersPage(sources.database, sources, chain, {
    ...query,
    freshFrom: page.readAt,
    wanted,
  });
  const now = new Map(known.rows.map((row) => [row.account, row.reported]));
  return { ...known, rows: candidates.map((row) => ({ ...row, reported: now.get(row.account) ?? null })) };
}

/** Late results are stored later. */
async function fetchOf(
  { nodeReads, logger }: OwnerSources,
  chain: Chain,
  { token, accounts }: { readonly token: Address; readonly accounts: readonly Address[] },
): Promise<void> {
  const question = { token, accounts: accounts.toSorted() };
  const read = nodeReads.request(chain, OWNERS_NOW, question, { fruitlessMs: SILENCE_MS });
  const missing = { message: 'A contract could not be asked what accounts hold', chain: chain.key, token };
  await unlessUnavailable(logger, missing, read);
}
