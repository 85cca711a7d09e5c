/** Asks token contracts what accounts hold, and other upstreams the same again. Of the worker role. */
import { type Address, ChainsteadError, parseAddress } from '@chainstead/core';
import { type StateBlock, type StateReadingContext, stateAt } from '@chainstead/state';
import { balanceOfCall, readBalance } from './balance-of.ts';

/** A number alone is whichever block an upstream has there. */
type BlockAsked = StateBlock | Pick<StateBlock, 'number'>;

/** What an account has of a token. */
export interface Holding {
  readonly token: Address;
  readonly holder: Address;
}

/** What `balanceOf` came to. */
export interface ToldHolding extends Holding {
  /** Base units; null: nothing that is a number. */
  readonly balance: bigint | null;
  /** Whose answer it is. */
  readonly upstream: string;
}

/** What `balanceOf` came to at one upstream; null: nothing that is a number. `unheard`: it could not be asked. */
export type Said = bigint | null | 'unheard';

/**
 * What contracts say after a block, in the order of the holdings. Those that could not be asked are missing.
 * @throws StateNotArchivedError, UpstreamsExhaustedError, RequestAbortedError
 */
export async function askBalances(
  context: Pick<StateReadingContext, 'chain' | 'pool'>,
  block: BlockAsked,
  holdings: readonly Holding[],
  signal: AbortSignal,
  isPatient = false,
): Promise<readonly ToldHolding[]> {
  const answers = await askUpstreams(context, { block, holdings, notFrom: null, isPatient }, signal);
  return holdings.flatMap((holding, place) => {
    const { balance, upstream } = answers[place] ?? UNHEARD;
    return balance === 'unheard' ? [] : [{ ...holding, balance, upstream }];
  });
}

/**
 * What another upstream says of each holding than the one that told it, in their order. Where there is only one upstream, it is asked again.
 * @throws RequestAbortedError
 */
export async function askOthers(
  context: StateReadingContext,
  block: StateBlock,
  told: readonly ToldHolding[],
  signal: AbortSignal,
): Promise<readonly Said[]> {
  const { chain, pool, logger } = context;
  const isAlone = pool.status().filter(({ state }) => state !== 'disabled').length < 2;
  const said = new Map<ToldHolding, Said>();
  const askAbout = async (upstream: string, holdings: readonly ToldHolding[]): Promise<void> => {
    try {
      const asked = { block, holdings, notFrom: isAlone ? null : upstream, isPatient: false };
      const answers = await askUpstreams(context, asked, signal);
      for (const [place, one] of holdings.entries()) said.set(one, (answers[place] ?? UNHEARD).balance);
    } catch (error) {
      if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
      logger.warn(
        { chain: chain.key, upstream, holdings: holdings.length, err: error },
        'No other upstream could be asked what accounts hold',
      );
    }
  };
  const byTeller = Map.groupBy(told, ({ upstream }) => upstream);
  await Promise.all([...byTeller].map(([upstream, holdings]) => askAbout(upstream, holdings)));
  return told.map((one) => {
    const balance = said.get(one);
    return balance === undefined ? 'unheard' : balance;
  });
}

/** Nobody that a contract knows anything of. */
const STRANGER = parseAddress('0x7777777777777777777777777777777777777777');

/**
 * Tokens that tell a stranger's balance neither, at two upstreams: their contracts tell none at all. One account alone may be one whose balance a
 * contract refuses to tell.
 * @throws as askBalances
 */
export async function findSilentTokens(
  context: StateReadingContext,
  block: StateBlock,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<ReadonlySet<Address>> {
  if (tokens.length === 0) return new Set();
  const holdings = tokens.map((token) => ({ token, holder: STRANGER }));
  const silent = (await askBalances(context, block, holdings, signal)).filter(({ balance }) => balance === null);
  const others = await askOthers(context, block, silent, signal);
  return new Set(silent.flatMap(({ token }, place) => (others[place] === null ? [token] : [])));
}

interface Heard {
  readonly balance: Said;
  readonly upstream: string;
}

const UNHEARD: Heard = { balance: 'unheard', upstream: '' };

/** In the order of the holdings. */
async function askUpstreams(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  asked: {
    readonly block: BlockAsked;
    readonly holdings: readonly Holding[];
    readonly notFrom: string | null;
    readonly isPatient: boolean;
  },
  signal: AbortSignal,
): Promise<readonly Heard[]> {
  const { block, holdings, notFrom, isPatient } = asked;
  const state = stateAt(pool, chain, block, { isPatient, ...(notFrom === null ? {} : { notFrom }) });
  const calls = holdings.map(({ token, holder }) => ({ to: token, data: balanceOfCall(holder) }));
  const answers = await state.askTogether(calls, signal);
  return answers.map(({ data, upstream, unread }) =>
    unread === undefined ? { balance: readBalance(data), upstream } : UNHEARD,
  );
}
