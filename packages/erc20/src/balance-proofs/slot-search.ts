import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError, type Hex } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { StateNotArchivedError, stateAt } from '@chainstead/node-reads';
import type { UpstreamPool } from '@chainstead/rpc';
import { balanceOfCall, readBalance } from '../calls/balance-of.ts';
import type { BalanceSlot } from './balance-slot.ts';
import { findBalanceSlot, type Witness } from './find-balance-slot.ts';
import { knownHolders } from './known-holders.ts';
import type { BlockOfState, StateProofs } from './state-proofs.ts';
import { keepSlot, readStoredSlot } from './stored-slots.ts';
import { UnprovableError } from './unprovable-error.ts';

/** The known storage location of a token's balances. */
export interface KnownSlot extends BalanceSlot {
  /** Number of holders that confirm it. */
  readonly witnesses: number;
  /** Whether it was found earlier, at another block. */
  readonly isKept: boolean;
}

/** A search in a token's storage. The wallet itself is a witness only if there are too few others. */
export interface SearchQuestion {
  readonly token: Address;
  readonly wallet: Address;
  readonly shown: bigint;
}

/** Storage locations of token balances, stored or searched. Null: no known location. Both throw as StateProofs.read. */
export interface SlotSearch {
  known(question: SearchQuestion, signal: AbortSignal): Promise<KnownSlot | null>;
  /** Searches again. @param kept the fallback if there are too few holders */
  anew(question: SearchQuestion, signal: AbortSignal, kept?: KnownSlot): Promise<KnownSlot | null>;
}

export interface SlotSearchOptions {
  readonly database: Database;
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly block: BlockOfState;
  readonly proofs: StateProofs;
}

const WITNESSES_MAX = 4;
const WITNESSES_MIN = 2;

export function createSlotSearch(options: SlotSearchOptions): SlotSearch {
  const { database, chain, block, proofs } = options;

  async function anew(question: SearchQuestion, signal: AbortSignal, kept?: KnownSlot): Promise<KnownSlot | null> {
    const { token, wallet, shown } = question;
    const others = await readWitnesses(options, question, signal);
    const isReported = others.length >= WITNESSES_MIN;
    const witnesses = isReported || shown === 0n ? others : distinct([...others, { holder: wallet, balance: shown }]);
    const found = witnesses.length === 0 ? null : await findBalanceSlot(proofs, token, witnesses, signal);
    // If the only balance may be wrong, a failed search reveals nothing about the token.
    if (found === null && !isReported) return kept ?? null;
    const soughtBy = witnesses.map(({ holder }) => holder);
    await keepSlot(database, chain, { token, found, soughtBy, block: block.number });
    return found === null ? null : { ...found, witnesses: found.checkedBy.length, isKept: false };
  }

  return {
    anew,
    async known(question, signal) {
      const kept = await readStoredSlot(database, chain, question.token);
      if (kept !== null && kept.place === null && kept.isFresh) return null;
      if (kept !== null && kept.place !== null && kept.witnesses >= WITNESSES_MIN)
        return { ...kept.place, witnesses: kept.witnesses, isKept: true };
      return anew(question, signal);
    },
  };
}

/** Returns other holders of the token with their `balanceOf` results. */
async function readWitnesses(
  { database, chain, pool, block }: SlotSearchOptions,
  { token, wallet }: SearchQuestion,
  signal: AbortSignal,
): Promise<Witness[]> {
  const holders = await knownHolders(database, chain, { token, wallet, block: block.number });
  const calls = holders.map((holder) => ({ to: token, data: balanceOfCall(holder) }));
  const returned = await fetchTogether({ pool, chain, block }, calls, signal);
  const witnesses = holders.flatMap((holder, place) => {
    const balance = readBalance(returned[place] ?? null);
    return balance === null || balance === 0n ? [] : [{ holder, balance }];
  });
  return distinct(witnesses);
}

async function fetchTogether(
  { pool, chain, block }: Pick<SlotSearchOptions, 'pool' | 'chain' | 'block'>,
  calls: readonly { readonly to: Address; readonly data: Hex }[],
  signal: AbortSignal,
): Promise<readonly (Hex | null)[]> {
  try {
    return await stateAt(pool, chain, block).callTogether(calls, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    const reason = error instanceof StateNotArchivedError ? 'not-archived' : 'no-proof-from-upstream';
    throw new UnprovableError(reason, error.message, error);
  }
}

/** Returns holders with distinct balances, largest first: large values don't match by chance. */
function distinct(witnesses: readonly Witness[]): Witness[] {
  const byBalance = new Map(witnesses.map((witness) => [witness.balance, witness]));
  return [...byBalance.values()].toSorted((a, b) => (a.balance < b.balance ? 1 : -1)).slice(0, WITNESSES_MAX);
}
