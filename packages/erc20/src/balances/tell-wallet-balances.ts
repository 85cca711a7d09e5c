import type { SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, errorText, type Logger, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import { StateNotArchivedError, type StateQuestions, StateUnavailableError } from '@chainstead/state';
import type { createKeptSubjects } from '@chainstead/sync';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { BALANCES_NOW, BALANCES_THEN } from './balance-questions.ts';
import { requestCodeCheck } from './check-token-codes.ts';
import { getWalletBalances, type HeldToken, type WalletBalances } from './get-wallet-balances.ts';
import { readMissingFacts } from './read-missing-facts.ts';
import type { WalletBalancesQuery } from './wallet-balances-statement.ts';

/** What balances are told with. */
interface BalanceSources {
  readonly database: Database;
  readonly questions: StateQuestions;
  readonly kept: ReturnType<typeof createKeptSubjects>;
  readonly logger: Logger;
  /** How long a request waits for what it has caused. Milliseconds. */
  readonly waitMs: number;
}

/** A balance above zero. */
export interface ToldBalance extends HeldToken {
  readonly balance: bigint;
  readonly balanceBlock: number;
}

export interface ToldBalances extends SubjectCoverage {
  /** Newest movement first. */
  readonly balances: readonly ToldBalance[];
  /** The last token that was looked at, whether it is shown or not; null for none. */
  readonly last: HeldToken | null;
  readonly hasNext: boolean;
  /** Whether nothing is missing: every block is indexed for the wallet, or tokens were named, and each balance could be told. */
  readonly isComplete: boolean;
}

/** What of a request decides about balances. */
type BalancesRequest = Omit<WalletBalancesQuery, 'freshFrom'>;

/**
 * The balances of a wallet: what is known of them, once contracts were asked that have to be. What a contract does not say in time is left out, and
 * the reading goes on.
 * @throws StateNotArchivedError, StateUnavailableError where a block is asked for below what is indexed, which nodes alone know
 */
export async function tellWalletBalances(
  sources: BalanceSources,
  chain: Chain,
  request: BalancesRequest,
): Promise<ToldBalances> {
  const { database, kept, waitMs } = sources;
  // Nobody's: what was burned is not held.
  const query = request.wallet === ZERO_ADDRESS ? { ...request, tokens: [] } : request;
  const kind = { dataset: erc20Transfers, state: erc20WalletTokens };
  const progress = await kept.keep(chain, kind, query.wallet, waitMs);
  if (progress === 'built' && query.tokens === null) await lookAtWrapped(database, chain, query.wallet);
  const first = await getWalletBalances(database, chain, { ...query, freshFrom: null });
  const again = () => getWalletBalances(database, chain, { ...query, freshFrom: first.readAt });
  const tell = async (known: WalletBalances): Promise<ToldBalances> =>
    toTold(request, known, await balancesAfter(sources, chain, query, known));
  const wasAsked = !isBelow(query.toBlock, first) && (await askContracts(sources, chain, query, first));
  const told = await tell(wasAsked ? await again() : first);
  await requestCodeCheck(
    sources,
    chain,
    told.balances.map(({ token }) => token),
  );
  return (await readMissingFacts(sources, chain, told.balances)) ? tell(await again()) : told;
}

/** Of a wallet that only ever wrapped some, nothing names the wrapped coin where its deposits are not all indexed. */
async function lookAtWrapped(database: Database, { id, wrappedNative }: Chain, wallet: Address): Promise<void> {
  if (wrappedNative === null) return;
  await database.query(
    'INSERT INTO erc20_wallet_tokens (wallet, chain_id, token) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [addressBytes(wallet), id, addressBytes(wrappedNative)],
  );
}

function toTold({ tokens }: BalancesRequest, known: WalletBalances, told: readonly HeldToken[]): ToldBalances {
  return {
    ...known,
    balances: told.flatMap((one) => (isShown(one) ? [one] : [])),
    last: known.tokens.at(-1) ?? null,
    isComplete:
      known.isBuilt && (known.isCovered || tokens !== null) && told.every((one) => one.class === 'none' || isTold(one)),
  };
}

/** Less than nothing is told by transfers that don't tell balances after all. */
function isTold({ balance }: HeldToken): boolean {
  return balance !== null && balance >= 0n;
}

/** Whether a block is asked for of which transfers tell nothing. */
function isBelow(toBlock: number | null, { indexed }: Pick<WalletBalances, 'indexed'>): boolean {
  return toBlock !== null && indexed.fromBlock !== null && toBlock < indexed.fromBlock - 1;
}

function isShown(one: HeldToken): one is ToldBalance {
  return one.balance !== null && one.balance > 0n && one.balanceBlock !== null;
}

/** So long nobody looks again for tokens of lists that a wallet of unknown history may hold. Milliseconds. */
const LOOKED_MS = 30_000;

/** What could not be read beside the others is read by itself, once in so long. Milliseconds. */
const AGAIN_LATER = { waitMs: 0, maxAgeMs: 60_000, fruitlessMs: 60_000 };

/** @returns whether contracts may have said more than is known */
async function askContracts(
  { questions, waitMs, logger }: BalanceSources,
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
    const answer = await questions.ask(chain, BALANCES_NOW, question, {
      waitMs: isDue || mayHoldOthers ? waitMs : 0,
      maxAgeMs: isDue ? 0 : LOOKED_MS,
    });
    const unread = answer?.unread ?? [];
    // Not waited for: the others are shown.
    if (unread.length > 0)
      await questions.ask(chain, BALANCES_NOW, { ...question, tokens: unread, isPatient: true }, AGAIN_LATER);
    // What came too late was kept part by part.
    return isDue || answer !== null;
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    logger.debug({ chain: chain.key, wallet, error: errorText(error) }, 'Contracts could not be asked for balances');
    return isDue;
  }
}

/** The same tokens with their balances after the block that is asked for. */
async function balancesAfter(
  sources: BalanceSources,
  chain: Chain,
  { wallet, toBlock }: BalancesRequest,
  known: WalletBalances,
): Promise<readonly HeldToken[]> {
  const { tokens, indexed } = known;
  if (toBlock === null || indexed.toBlock === null || toBlock >= indexed.toBlock) return tokens;
  const isPast = isBelow(toBlock, known);
  // Transfers tell the others.
  const isAsked = (one: HeldToken): boolean => one.class !== 'none' && (isPast || !one.addsUp);
  const asked = tokens.filter(isAsked).map(({ token }) => token);
  const isSettled = toBlock <= indexed.toBlock - chain.reorgDepthMax;
  const past = await askPast(sources, chain, { wallet, tokens: asked, toBlock, isSettled }, isPast);
  return tokens.map((one): HeldToken => {
    const balance = isAsked(one) ? pastBalance(past, one.token) : one.balance;
    return { ...one, balance, balanceBlock: toBlock };
  });
}

/** A contract that said nothing was not there yet. */
function pastBalance(past: ReadonlyMap<Address, bigint | null> | null, token: Address): bigint | null {
  if (past === null) return null;
  const balance = past.get(token);
  return balance === undefined ? 0n : balance;
}

/** Of one question. */
const PAST_TOKENS = 500;
/** What can't be reorganised any more does not change. */
const PAST_MS = 300_000;

/** What nodes say of a past block; null where they don't, and it can be done without. */
async function askPast(
  { questions, waitMs }: BalanceSources,
  chain: Chain,
  asked: {
    readonly wallet: Address;
    readonly tokens: readonly Address[];
    readonly toBlock: number;
    readonly isSettled: boolean;
  },
  isNeeded: boolean,
): Promise<ReadonlyMap<Address, bigint | null> | null> {
  const { wallet, tokens, toBlock: block } = asked;
  const options = { waitMs, maxAgeMs: asked.isSettled ? PAST_MS : 0 };
  const parts = Array.from({ length: Math.ceil(tokens.length / PAST_TOKENS) }, (_, part) =>
    tokens.slice(part * PAST_TOKENS, (part + 1) * PAST_TOKENS),
  );
  try {
    const answers = await Promise.all(
      parts.map((some) => questions.ask(chain, BALANCES_THEN, { wallet, tokens: some, block }, options)),
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
