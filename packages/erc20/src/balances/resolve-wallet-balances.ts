import type { Chain } from '@chainstead/chains';
import { type Address, errorText, type Logger, ZERO_ADDRESS } from '@chainstead/core';
import type { SubjectCoverage } from '@chainstead/data-api';
import { addressBytes, type Database, sql } from '@chainstead/db';
import {
  type NodeReadQueue,
  type ReadingContext,
  StateNotArchivedError,
  StateUnavailableError,
} from '@chainstead/node-reads';
import type { createSubjectProjections } from '@chainstead/sync';
import { readTokenFacts } from '@chainstead/tokens';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { BALANCES_NOW, BALANCES_THEN } from './balance-questions.ts';
import { requestCodeCheck } from './check-token-codes.ts';
import { getWalletBalances, type HeldToken, type WalletBalances } from './get-wallet-balances.ts';
import type { WalletBalancesQuery } from './wallet-balances-statement.ts';

/** Sources of balances. */
interface BalanceSources {
  readonly database: Database;
  readonly nodeReads: NodeReadQueue;
  readonly projections: ReturnType<typeof createSubjectProjections>;
  readonly logger: Logger;
  /** Time that a request waits for the work it causes. Milliseconds. */
  readonly waitMs: number;
}

/** A balance above zero. */
export interface ResolvedBalance extends HeldToken {
  readonly balance: bigint;
  readonly balanceBlock: number;
}

export interface ResolvedBalances extends SubjectCoverage {
  /** Newest movement first. */
  readonly balances: readonly ResolvedBalance[];
  /** The last examined token, shown or not; null for none. */
  readonly last: HeldToken | null;
  readonly hasNext: boolean;
  /** Whether all blocks are indexed for the wallet, or tokens were named, and every balance was determined. */
  readonly isComplete: boolean;
  /** Tokens that are omitted because no balance could be determined in time. */
  readonly unread: readonly Address[];
}

/** The part of a request that affects balances. */
type BalancesRequest = Omit<WalletBalancesQuery, 'freshFrom'>;

/**
 * Returns a wallet's balances after reading the required contracts. Balances that a contract does not return in time
 * are omitted, and their read continues.
 * @throws StateNotArchivedError, StateUnavailableError for a block below the indexed ones, which needs nodes
 */
export async function resolveWalletBalances(
  sources: BalanceSources,
  chain: Chain,
  request: BalancesRequest,
): Promise<ResolvedBalances> {
  const { database, projections, waitMs } = sources;
  // The zero address: burned tokens are not held.
  const query = request.wallet === ZERO_ADDRESS ? { ...request, tokens: [] } : request;
  const kind = { dataset: erc20Transfers, state: erc20WalletTokens };
  const progress = await projections.keep(chain, kind, query.wallet, waitMs);
  if (progress === 'built' && query.tokens === null) await lookAtWrapped(database, chain, query.wallet);
  const first = await getWalletBalances(database, chain, { ...query, freshFrom: null });
  const again = () => getWalletBalances(database, chain, { ...query, freshFrom: first.readAt });
  const report = async (known: WalletBalances): Promise<ResolvedBalances> =>
    toReported(request, known, await balancesAfter(sources, chain, query, known));
  const wasRequested = !isBelow(query.toBlock, first) && (await fetchContracts(sources, chain, query, first));
  const reported = await report(wasRequested ? await again() : first);
  await requestCodeCheck(
    sources,
    chain,
    reported.balances.map(({ token }) => token),
  );
  return (await readMissingFacts(sources, chain, reported.balances)) ? report(await again()) : reported;
}

/** Without all deposits indexed, a wallet that only ever wrapped has no row of the wrapped native token. */
async function lookAtWrapped(database: Database, { id, wrappedNative }: Chain, wallet: Address): Promise<void> {
  if (wrappedNative === null) return;
  await database.query(
    sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token) VALUES (${addressBytes(wallet)}, ${id}, ${addressBytes(wrappedNative)}) ON CONFLICT DO NOTHING`,
  );
}

function toReported(
  { tokens }: BalancesRequest,
  known: WalletBalances,
  reported: readonly HeldToken[],
): ResolvedBalances {
  const unread = reported.filter((one) => one.class !== 'none' && !isReported(one));
  return {
    ...known,
    balances: reported.flatMap((one) => (isShown(one) ? [one] : [])),
    last: known.tokens.at(-1) ?? null,
    isComplete: known.isBuilt && (known.isCovered || tokens !== null) && unread.length === 0,
    unread: unread.map(({ token }) => token),
  };
}

/** A negative balance means that transfers don't determine balances after all. */
function isReported({ balance }: HeldToken): boolean {
  return balance !== null && balance >= 0n;
}

/** Whether the requested block is below the indexed ones, so that transfers don't determine its balances. */
function isBelow(toBlock: number | null, { indexed }: Pick<WalletBalances, 'indexed'>): boolean {
  return toBlock !== null && indexed.fromBlock !== null && toBlock < indexed.fromBlock - 1;
}

function isShown(one: HeldToken): one is ResolvedBalance {
  return one.balance !== null && one.balance > 0n && one.balanceBlock !== null;
}

/** Minimum interval between reads of listed tokens for a wallet with incomplete coverage. Milliseconds. */
const LOOKED_MS = 30_000;

/** Tokens that failed in a group are read separately at this interval. Milliseconds. */
const AGAIN_LATER = { waitMs: 0, maxAgeMs: 60_000, fruitlessMs: 60_000 };

/** @returns whether contracts may have returned new values */
async function fetchContracts(
  { nodeReads, waitMs, logger }: BalanceSources,
  chain: Chain,
  { wallet, tokens, liveMaxAgeMs }: BalancesRequest,
  known: WalletBalances,
): Promise<boolean> {
  if (!known.isBuilt || wallet === ZERO_ADDRESS) return false;
  const isDue = known.tokens.some(({ due }) => due === 'now');
  const mayHoldOthers = tokens === null && !known.isCovered;
  if (!isDue && !mayHoldOthers && known.tokens.every(({ due }) => due === null)) return false;
  try {
    const question = { wallet, tokens, liveMaxAgeMs, isPatient: false };
    const answer = await nodeReads.request(chain, BALANCES_NOW, question, {
      waitMs: isDue || mayHoldOthers ? waitMs : 0,
      maxAgeMs: isDue ? 0 : LOOKED_MS,
    });
    const unread = answer?.unread ?? [];
    // Not awaited: the other balances are shown.
    if (unread.length > 0)
      await nodeReads.request(chain, BALANCES_NOW, { ...question, tokens: unread, isPatient: true }, AGAIN_LATER);
    // Late results were stored group by group.
    return isDue || answer !== null;
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    logger.debug({ chain: chain.key, wallet, error: errorText(error) }, 'Could not queue balance reads from contracts');
    return isDue;
  }
}

/** Returns the same tokens with their balances after the requested block. */
async function balancesAfter(
  sources: BalanceSources,
  chain: Chain,
  { wallet, toBlock }: BalancesRequest,
  known: WalletBalances,
): Promise<readonly HeldToken[]> {
  const { tokens, indexed } = known;
  if (toBlock === null || indexed.toBlock === null || toBlock >= indexed.toBlock) return tokens;
  const isPast = isBelow(toBlock, known);
  // Transfers determine the others.
  const isRequested = (one: HeldToken): boolean => one.class !== 'none' && (isPast || !one.addsUp);
  const requested = tokens.filter(isRequested).map(({ token }) => token);
  const isSettled = toBlock <= indexed.toBlock - chain.reorgDepthMax;
  const past = await fetchPast(sources, chain, { wallet, tokens: requested, toBlock, isSettled }, isPast);
  return tokens.map((one): HeldToken => {
    const balance = isRequested(one) ? pastBalance(past, one.token) : one.balance;
    return { ...one, balance, balanceBlock: toBlock };
  });
}

/** A contract without a result did not exist yet. */
function pastBalance(past: ReadonlyMap<Address, bigint | null> | null, token: Address): bigint | null {
  if (past === null) return null;
  const balance = past.get(token);
  return balance === undefined ? 0n : balance;
}

/** Per state read. */
const PAST_TOKENS = 500;
/** Balances that can no longer be reorganized don't change. */
const PAST_MS = 300_000;

/** Returns balances from nodes at a past block; null if they are unavailable and not essential. */
async function fetchPast(
  { nodeReads, waitMs }: BalanceSources,
  chain: Chain,
  requested: {
    readonly wallet: Address;
    readonly tokens: readonly Address[];
    readonly toBlock: number;
    readonly isSettled: boolean;
  },
  isNeeded: boolean,
): Promise<ReadonlyMap<Address, bigint | null> | null> {
  const { wallet, tokens, toBlock: block } = requested;
  const options = { waitMs, maxAgeMs: requested.isSettled ? PAST_MS : 0 };
  const parts = Array.from({ length: Math.ceil(tokens.length / PAST_TOKENS) }, (_, part) =>
    tokens.slice(part * PAST_TOKENS, (part + 1) * PAST_TOKENS),
  );
  try {
    const answers = await Promise.all(
      parts.map((some) => nodeReads.request(chain, BALANCES_THEN, { wallet, tokens: some, block }, options)),
    );
    const said = answers.flatMap((answer) => (answer === null ? [] : [answer]));
    if (said.length < answers.length)
      throw new StateUnavailableError(`Balances at block ${block} are being read: try again`);
    return new Map(said.flat().map(({ token, balance }) => [token, balance === null ? null : BigInt(balance)]));
  } catch (error) {
    const isMissing = error instanceof StateUnavailableError || error instanceof StateNotArchivedError;
    if (isNeeded || !isMissing) throw error;
    return null;
  }
}

/** Per response: others are read in the background after their transfers are indexed. */
const TOKENS_MAX = 100;

/** Retry interval of a contract without a result. Milliseconds. */
const SILENCE_MS = 60_000;

/**
 * Reads the decimals of shown tokens, which it awaits, and unknown or outdated supplies, which it does not.
 * @returns whether there is new data to show
 */
export async function readMissingFacts(
  context: ReadingContext & { readonly waitMs: number },
  chain: Chain,
  shown: readonly Pick<HeldToken, 'token' | 'facts'>[],
): Promise<boolean> {
  const unread = shown.filter(({ facts }) => facts.decimals === null).slice(0, TOKENS_MAX);
  const old = shown.filter(({ facts }) => facts.decimals !== null && facts.isSupplyOld).slice(0, TOKENS_MAX);
  const tokensOf = (some: typeof shown) => some.map(({ token }) => token);
  if (old.length > 0)
    await readTokenFacts(context, chain, { addresses: tokensOf(old), waitMs: 0, maxAgeMs: SILENCE_MS });
  if (unread.length === 0) return false;
  const options = { waitMs: context.waitMs, maxAgeMs: SILENCE_MS };
  const reported = await readTokenFacts(context, chain, { ...options, addresses: tokensOf(unread) });
  return reported.size > 0;
}
