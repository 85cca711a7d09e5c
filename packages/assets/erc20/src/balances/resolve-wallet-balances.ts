import type { Chain } from '@chainstead/chains';
import { type Address, inParts, type Logger, waitingAtMost, waitLeft, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import {
  type NodeReadQueue,
  type ReadingContext,
  StateNotArchivedError,
  StateUnavailableError,
  unlessUnavailable,
} from '@chainstead/node-reads/requests';
import type { SubjectCoverage } from '@chainstead/pages';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { readTokenFacts } from '@chainstead/tokens/requests';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { BALANCES_NOW, BALANCES_THEN, type PastBalanceQuestion } from './balance-questions.ts';
import { requestCodeCheck } from './check-token-codes.ts';
import {
  getWalletBalances,
  type HeldToken,
  type WalletBalances,
  type WalletBalancesQuery,
} from './wallet-balances-statement.ts';

interface BalanceSources {
  readonly database: Database;
  readonly nodeReads: NodeReadQueue;
  readonly projections: SubjectProjections;
  readonly logger: Logger;
}

export interface ResolvedBalance extends HeldToken {
  readonly balance: bigint;
  readonly balanceBlock: number;
}

export interface ResolvedBalances extends SubjectCoverage {
  readonly balances: readonly ResolvedBalance[];
  readonly last: HeldToken | null;
  readonly hasNext: boolean;
  /** Every block is indexed or tokens were named, and no balance is unread. */
  readonly isComplete: boolean;
  /** No balance could be determined in time. */
  readonly unread: readonly Address[];
}

type BalancesRequest = Omit<WalletBalancesQuery, 'freshFrom'>;

/** Late balances are left out. @throws StateNotArchivedError, StateUnavailableError */
export async function resolveWalletBalances(
  sources: BalanceSources,
  chain: Chain,
  request: BalancesRequest,
): Promise<ResolvedBalances> {
  const { database, projections } = sources;
  // Burned tokens are not held.
  const query = request.wallet === ZERO_ADDRESS ? { ...request, tokens: [] } : request;
  const kind = { dataset: erc20Transfers, state: erc20WalletTokens };
  const progress = await projections.keep(chain, kind, query.wallet);
  // A wallet that only wrapped may have no row of the wrapped native token.
  if (progress === 'built' && query.tokens === null && chain.wrappedNative !== null)
    await database.query(
      sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token)
        VALUES (${addressBytes(query.wallet)}, ${chain.id}, ${addressBytes(chain.wrappedNative)}) ON CONFLICT DO NOTHING`,
    );
  const first = await getWalletBalances(database, chain, { ...query, freshFrom: null });
  const again = () => getWalletBalances(database, chain, { ...query, freshFrom: first.readAt });
  const report = async (known: WalletBalances): Promise<ResolvedBalances> =>
    toReported(request, known, await balancesAfter(sources, chain, query, known));
  const wasRequested = !isBelow(query.toBlock, first) && (await fetchContracts(sources, chain, query, first));
  const reported = await report(wasRequested ? await again() : first);
  const shown = reported.balances.map(({ token }) => token);
  await requestCodeCheck(sources, chain, shown);
  return (await readMissingFacts(sources, chain, reported.balances)) ? report(await again()) : reported;
}

function toReported(
  { tokens }: BalancesRequest,
  known: WalletBalances,
  reported: readonly HeldToken[],
): ResolvedBalances {
  // A negative balance means that transfers don't determine balances after all.
  const unread = reported.filter((held) => held.class !== 'none' && (held.balance === null || held.balance < 0n));
  return {
    ...known,
    balances: reported.filter(
      (held): held is ResolvedBalance => held.balance !== null && held.balance > 0n && held.balanceBlock !== null,
    ),
    last: known.tokens.at(-1) ?? null,
    isComplete: known.isBuilt && (known.isCovered || tokens !== null) && unread.length === 0,
    unread: unread.map(({ token }) => token),
  };
}

function isBelow(toBlock: number | null, { indexed }: Pick<WalletBalances, 'indexed'>): boolean {
  return toBlock !== null && indexed.fromBlock !== null && toBlock < indexed.fromBlock - 1;
}

/** Milliseconds between reads of listed tokens, with incomplete coverage. */
const LOOKED_MS = 30_000;

/** Tokens that failed in a group are read alone at this interval. */
const AGAIN_LATER = { maxAgeMs: 60_000, fruitlessMs: 60_000 };

async function fetchContracts(
  { nodeReads, logger }: BalanceSources,
  chain: Chain,
  { wallet, tokens, liveMaxAgeMs }: BalancesRequest,
  known: WalletBalances,
): Promise<boolean> {
  if (!known.isBuilt || wallet === ZERO_ADDRESS) return false;
  const isDue = known.tokens.some(({ due }) => due === 'now');
  const mayHoldOthers = tokens === null && !known.isCovered;
  if (!isDue && !mayHoldOthers && known.tokens.every(({ due }) => due === null)) return false;
  const question = { wallet, tokens, liveMaxAgeMs, isPatient: false };
  const missing = { message: 'Could not queue balance reads from contracts', chain: chain.key, wallet };
  const answer = await unlessUnavailable(
    logger,
    missing,
    waitingAtMost(isDue || mayHoldOthers ? waitLeft() : 0, () =>
      nodeReads.request(chain, BALANCES_NOW, question, { maxAgeMs: isDue ? 0 : LOOKED_MS }),
    ),
  );
  if (answer === null || answer.unread.length === 0) return isDue || answer !== null;
  // Not awaited: the other balances are shown.
  const later = { ...question, tokens: answer.unread, isPatient: true };
  const read = waitingAtMost(0, () => nodeReads.request(chain, BALANCES_NOW, later, AGAIN_LATER));
  await unlessUnavailable(logger, missing, read);
  return true;
}

async function balancesAfter(
  sources: BalanceSources,
  chain: Chain,
  { wallet, toBlock }: BalancesRequest,
  known: WalletBalances,
): Promise<readonly HeldToken[]> {
  const { tokens, indexed } = known;
  if (toBlock === null || indexed.toBlock === null || toBlock >= indexed.toBlock) return tokens;
  const isPast = isBelow(toBlock, known);
  const isRequested = (held: HeldToken): boolean => held.class !== 'none' && (isPast || !held.addsUp);
  const requested = tokens.filter(isRequested).map(({ token }) => token);
  const isSettled = toBlock <= indexed.toBlock - chain.reorgDepthMax;
  const past = await fetchPast(sources, chain, { wallet, tokens: requested, block: toBlock, isSettled }, isPast);
  return tokens.map((held): HeldToken => {
    // A contract without a result did not exist yet.
    const balance = past?.has(held.token) === false ? 0n : (past?.get(held.token) ?? null);
    return { ...held, balance: isRequested(held) ? balance : held.balance, balanceBlock: toBlock };
  });
}

const PAST_TOKENS = 500;
/** Milliseconds. Settled balances don't change. */
const PAST_MS = 300_000;

async function fetchPast(
  { nodeReads }: BalanceSources,
  chain: Chain,
  { isSettled, ...question }: PastBalanceQuestion & { readonly isSettled: boolean },
  isNeeded: boolean,
): Promise<ReadonlyMap<Address, bigint | null> | null> {
  const options = { maxAgeMs: isSettled ? PAST_MS : 0 };
  try {
    const answers = await Promise.all(
      inParts(question.tokens, PAST_TOKENS).map((tokens) =>
        nodeReads.request(chain, BALANCES_THEN, { ...question, tokens }, options),
      ),
    );
    const balances = answers.flatMap((answer) => answer ?? []);
    if (answers.includes(null))
      throw new StateUnavailableError(`Balances at block ${question.block} are being read: try again`);
    return new Map(balances.map(({ token, balance }) => [token, balance === null ? null : BigInt(balance)]));
  } catch (error) {
    const isMissing = error instanceof StateUnavailableError || error instanceof StateNotArchivedError;
    if (isNeeded || !isMissing) throw error;
    return null;
  }
}

/** Per response. Others are read in the background. */
const TOKENS_MAX = 100;

/** Milliseconds until a silent contract is read again. */
const SILENCE_MS = 60_000;

/** Awaits decimals, not supplies. @returns whether there is new data to show */
export async function readMissingFacts(
  context: ReadingContext,
  chain: Chain,
  shown: readonly Pick<HeldToken, 'token' | 'facts'>[],
): Promise<boolean> {
  const unread = shown.filter(({ facts }) => facts.decimals === null).slice(0, TOKENS_MAX);
  const old = shown.filter(({ facts }) => facts.decimals !== null && facts.isSupplyOld).slice(0, TOKENS_MAX);
  const readFacts = (some: typeof shown) =>
    readTokenFacts(context, chain, { addresses: some.map(({ token }) => token), maxAgeMs: SILENCE_MS });
  if (old.length > 0) await waitingAtMost(0, () => readFacts(old));
  if (unread.length === 0) return false;
  return (await readFacts(unread)).size > 0;
}
