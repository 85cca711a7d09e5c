import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { stateAt } from '@chainstead/node-reads';
import { StateNotArchivedError } from '@chainstead/node-reads/requests';
import type { UpstreamPool } from '@chainstead/rpc';
import { balanceOfCall, readBalance } from '../calls/balance-of.ts';
import type { BalanceSlot } from './balance-slot.ts';
import { findBalanceSlot, type Witness } from './find-balance-slot.ts';
import { knownHolders } from './known-holders.ts';
import type { BlockOfState, StateProofs } from './state-proofs.ts';
import { keepSlot, readStoredSlot } from './stored-slots.ts';
import { UnprovableError } from './unprovable-error.ts';

export interface KnownSlot extends BalanceSlot {
  readonly witnesses: number;
  /** Found earlier, at another block. */
  readonly isKept: boolean;
}

interface SearchQuestion {
  readonly token: Address;
  readonly wallet: Address;
  readonly shown: bigint;
}

export type SlotSearch = ReturnType<typeof createSlotSearch>;

interface SlotSearchOptions {
  readonly database: Database;
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly block: BlockOfState;
  readonly proofs: StateProofs;
}

const WITNESSES_MAX = 4;
const WITNESSES_MIN = 2;

/** Null: no known location. @throws as StateProofs.read */
export function createSlotSearch(options: SlotSearchOptions) {
  const { database, chain, block, proofs } = options;

  /** @param kept the fallback if there are too few holders */
  async function anew(
    question: SearchQuestion,
    signal: AbortSignal,
    kept?: KnownSlot,
  ): Promise<KnownSlot | null> {
    const { token, wallet, shown } = question;
    const others = await readWitnesses(options, question, signal);
    const isReported = others.length >= WITNESSES_MIN;
    const witnesses =
      isReported || shown === 0n ? others : distinct([...others, { holder: wallet, balance: shown }]);
    const found = witnesses.length === 0 ? null : await findBalanceSlot(proofs, token, witnesses, signal);
    // If the only balance may be wrong, a failed search reveals nothing about the token.
    if (found === null && !isReported) return kept ?? null;
    const soughtBy = witnesses.map(({ holder }) => holder);
    await keepSlot(database, chain, { token, found, soughtBy, block: block.number });
    return found === null ? null : { ...found, witnesses: found.checkedBy.length, isKept: false };
  }

  return {
    anew,
    async known(question: SearchQuestion, signal: AbortSignal): Promise<KnownSlot | null> {
      const kept = await readStoredSlot(database, chain, question.token);
      if (kept?.location === null && kept.isFresh) return null;
      if (kept !== null && kept.location !== null && kept.witnesses >= WITNESSES_MIN)
        return { ...kept.location, witnesses: kept.witnesses, isKept: true };
      return anew(question, signal);
    },
  };
}

async function readWitnesses(
  { database, chain, pool, block }: SlotSearchOptions,
  { token, wallet }: SearchQuestion,
  signal: AbortSignal,
): Promise<Witness[]> {
  const holders = await knownHolders(database, chain, { token, wallet, block: block.number });
  const calls = holders.map((holder) => ({ to: token, data: balanceOfCall(holder) }));
  try {
    const returned = await stateAt(pool, chain, block).callTogether(calls, signal);
    const witnesses = holders.flatMap((holder, index) => {
      const balance = readBalance(returned[index] ?? null);
      return balance === null || balance === 0n ? [] : [{ holder, balance }];
    });
    return distinct(witnesses);
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    const reason = error instanceof StateNotArchivedError ? 'not-archived' : 'no-proof-from-upstream';
    throw new UnprovableError(reason, error.message, error);
  }
}

function distinct(witnesses: readonly Witness[]): Witness[] {
  const byBalance = new Map(witnesses.map((witness) => [witness.balance, witness]));
  return [...byBalance.values()].toSorted((a, b) => (a.balance < b.balance ? 1 : -1)).slice(0, WITNESSES_MAX);
}
