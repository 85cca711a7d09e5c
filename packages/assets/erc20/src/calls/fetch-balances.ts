import { type Address, ChainsteadError, type Hex, parseAddress } from '@chainstead/core';
import { returnedNumber } from '@chainstead/events/abi';
import { type StateReadingContext, stateAt } from '@chainstead/node-reads';
import type { StateBlock } from '@chainstead/node-reads/requests';

/** A number alone means any block at that height. */
type BlockRequested = StateBlock | Pick<StateBlock, 'number'>;

interface TokenHolder {
  readonly token: Address;
  readonly holder: Address;
}

interface ReportedHolding extends TokenHolder {
  readonly balance: bigint | null;
  readonly upstream: string;
}

/** Null: no number. `unheard`: the upstream could not be queried. */
export type Said = bigint | null | 'unheard';

/**
 * In order, without unread ones.
 * @throws StateNotArchivedError, UpstreamsExhaustedError, RequestAbortedError
 */
export async function fetchBalances(
  context: Pick<StateReadingContext, 'chain' | 'pool'>,
  block: BlockRequested,
  holdings: readonly TokenHolder[],
  signal: AbortSignal,
  isPatient = false,
): Promise<readonly ReportedHolding[]> {
  const answers = await fetchUpstreams(context, { block, holdings, notFrom: null, isPatient }, signal);
  return holdings.flatMap((holding, index) => {
    const { balance, upstream } = answers[index] ?? UNHEARD;
    return balance === 'unheard' ? [] : [{ ...holding, balance, upstream }];
  });
}

/** In order. Asks a single upstream again. @throws RequestAbortedError */
async function fetchOthers(
  context: StateReadingContext,
  block: StateBlock,
  reported: readonly ReportedHolding[],
  signal: AbortSignal,
): Promise<readonly Said[]> {
  const { chain, pool, logger } = context;
  const isAlone = pool.status().filter(({ state }) => state !== 'disabled').length < 2;
  const said = new Map<ReportedHolding, Said>();
  const fetchFrom = async (upstream: string, holdings: readonly ReportedHolding[]): Promise<void> => {
    try {
      const requested = { block, holdings, notFrom: isAlone ? null : upstream, isPatient: false };
      const answers = await fetchUpstreams(context, requested, signal);
      for (const [index, holding] of holdings.entries()) said.set(holding, (answers[index] ?? UNHEARD).balance);
    } catch (error) {
      if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
      logger.warn(
        { chain: chain.key, upstream, holdings: holdings.length, err: error },
        'No other upstream could be asked what accounts hold',
      );
    }
  };
  const byReporter = Map.groupBy(reported, ({ upstream }) => upstream);
  await Promise.all([...byReporter].map(([upstream, holdings]) => fetchFrom(upstream, holdings)));
  return reported.map((holding) => {
    const balance = said.get(holding);
    return balance === undefined ? 'unheard' : balance;
  });
}

/**
 * Reads contradicted balances again, elsewhere. @returns balances by key, without unread ones
 * @param keyOf the part of a holding that differs
 * @param save returns the contradicted keys. `silent`: tokens without any balances
 */
export async function readAndSave(
  context: StateReadingContext,
  { block, holdings, isPatient }: { block: StateBlock; holdings: readonly TokenHolder[]; isPatient: boolean },
  keyOf: (holding: TokenHolder) => Address,
  save: (readings: {
    readonly first: ReadonlyMap<Address, bigint | null>;
    readonly second: ReadonlyMap<Address, Said> | null;
    readonly silent: ReadonlySet<Address>;
  }) => Promise<readonly Address[]>,
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, bigint | null>> {
  const balancesOf = (some: readonly ReportedHolding[]) =>
    new Map(some.map((held) => [keyOf(held), held.balance]));
  const reported = await fetchBalances(context, block, holdings, signal, isPatient);
  const first = balancesOf(reported);
  const disputed = new Set(await save({ first, second: null, silent: new Set() }));
  if (disputed.size === 0) return first;
  const doubted = reported.filter((held) => disputed.has(keyOf(held)));
  const others = await fetchOthers(context, block, doubted, signal);
  const second = new Map(doubted.map((held, index) => [keyOf(held), others[index] ?? null]));
  const isUnreported = (held: ReportedHolding): boolean =>
    held.balance === null && second.get(keyOf(held)) === null;
  const byToken = Map.groupBy(doubted, ({ token }) => token);
  const unreported = [...byToken].flatMap(([token, holders]) => (holders.every(isUnreported) ? [token] : []));
  const silent = await findSilentTokens(context, block, unreported, signal);
  await save({ first: balancesOf(doubted), second, silent });
  return first;
}

const STRANGER = parseAddress('0x7777777777777777777777777777777777777777');

/**
 * Those without an unrelated account's balance either, at two upstreams. @throws as fetchBalances
 */
export async function findSilentTokens(
  context: StateReadingContext,
  block: StateBlock,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<ReadonlySet<Address>> {
  if (tokens.length === 0) return new Set();
  const holdings = tokens.map((token) => ({ token, holder: STRANGER }));
  const silent = (await fetchBalances(context, block, holdings, signal)).filter(
    ({ balance }) => balance === null,
  );
  const others = await fetchOthers(context, block, silent, signal);
  return new Set(silent.flatMap(({ token }, index) => (others[index] === null ? [token] : [])));
}

const UNHEARD = { balance: 'unheard', upstream: '' } as const;

async function fetchUpstreams(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  requested: {
    block: BlockRequested;
    holdings: readonly TokenHolder[];
    notFrom: string | null;
    isPatient: boolean;
  },
  signal: AbortSignal,
): Promise<readonly { readonly balance: Said; readonly upstream: string }[]> {
  const { block, holdings, notFrom, isPatient } = requested;
  const state = stateAt(pool, chain, block, { isPatient, ...(notFrom === null ? {} : { notFrom }) });
  const calls = holdings.map(({ token, holder }) => ({ to: token, data: balanceOfCall(holder) }));
  const answers = await state.fetchTogether(calls, signal);
  return answers.map(({ data, upstream, unread }) =>
    unread === undefined ? { balance: readBalance(data), upstream } : UNHEARD,
  );
}

export function balanceOfCall(holder: Address): Hex {
  return `0x70a08231${holder.slice(2).padStart(64, '0')}`;
}

/** Null: no number. */
export function readBalance(returned: Hex | null): bigint | null {
  return returnedNumber(returned);
}
