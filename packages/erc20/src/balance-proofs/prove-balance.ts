import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { stateAt } from '@chainstead/state';
import { balanceOfCall, readBalance } from '../calls/balance-of.ts';
import { slotOfHolder } from './balance-slot.ts';
import { isLiveToken } from './kept-slots.ts';
import { createSlotSearch, type KnownSlot, type SlotSearch } from './slot-search.ts';
import { type BlockOfState, createStateProofs, type RefusedAnswer, type StateProofs } from './state-proofs.ts';
import { UnprovableError, type UnprovableReason } from './unprovable-error.ts';

/** A balance that somebody shows. */
export interface BalanceToProve {
  readonly wallet: Address;
  /** Null: the chain's own coin. */
  readonly token: Address | null;
  /** Base units at the block; null where the contract tells none. */
  readonly shown: bigint | null;
  /** The upstream that told it; null where it follows from what is indexed. */
  readonly toldBy: string | null;
}

/** What a block's state says of a balance. */
export interface BalanceProof {
  readonly verdict: 'proven' | 'contradicted' | 'unproven';
  /** By what it was proven or contradicted; null where it was neither. */
  readonly proof: 'account' | 'storage' | null;
  /** Base units, as the state has them; null where it is unproven. */
  readonly proven: bigint | null;
  /** Why it is unproven; null where it is not. */
  readonly reason: UnprovableReason | null;
  /** Who says what, for people; null where it is proven. */
  readonly detail: string | null;
  /** Whether it is contradicted and an upstream says what the state has, so that who said otherwise lied. */
  readonly isSeconded: boolean;
}

/** Proves balances of one block. */
export interface BalanceProver {
  /** Whose headers or proofs did not hold, once each. */
  readonly refused: readonly RefusedAnswer[];
  /** What can't be proven is a verdict too. @throws RequestAbortedError, DatabaseError */
  proveBalance(balance: BalanceToProve, signal: AbortSignal): Promise<BalanceProof>;
}

export interface BalanceProverOptions {
  readonly database: Database;
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  /** A committed block: balances are proven under the state root that its hash commits to. */
  readonly block: BlockOfState;
}

/** Some tokens keep a flag in the highest bit of a balance, as USDC does for those on its blacklist. */
const FLAG = 1n << 255n;
/** Of the holders who show where balances lie: fewer contradict nothing. */
const WITNESSES_MIN = 2;

/** The header is read once; where a token keeps its balances is looked for once, and kept. */
export function createBalanceProver(options: BalanceProverOptions): BalanceProver {
  const proofs = createStateProofs(options);
  const search = createSlotSearch({ ...options, proofs });
  const tools = { ...options, proofs, search };
  return {
    refused: proofs.refused,
    async proveBalance({ wallet, token, shown, toldBy }, signal) {
      if (shown === null) return unproven('no-balance', 'balanceOf gives no number');
      const asked = { wallet, shown, toldBy };
      try {
        return token === null
          ? await proveCoin(tools, asked, signal)
          : await proveToken(tools, { ...asked, token }, signal);
      } catch (error) {
        if (error instanceof UnprovableError) return unproven(error.reason, error.why);
        throw error;
      }
    },
  };
}

interface Tools extends BalanceProverOptions {
  readonly proofs: StateProofs;
  readonly search: SlotSearch;
}

/** What is compared. */
interface Shown {
  readonly wallet: Address;
  readonly shown: bigint;
  readonly toldBy: string | null;
}

interface ShownOfToken extends Shown {
  readonly token: Address;
}

async function proveCoin({ proofs, block }: Tools, shown: Shown, signal: AbortSignal): Promise<BalanceProof> {
  const { balance } = await proofs.read(shown.wallet, [], signal);
  return balance === shown.shown
    ? proven('account', balance)
    : contradicted('account', balance, whoSaysWhat(shown, block, balance), false);
}

async function proveToken(tools: Tools, asked: ShownOfToken, signal: AbortSignal): Promise<BalanceProof> {
  const { database, chain, search } = tools;
  const isLive = await isLiveToken(database, chain, asked.token);
  let known = await search.known(asked, signal);
  let value = await valueAt(tools, asked, known, signal);
  // An upgraded contract may keep balances elsewhere.
  if (known?.isKept === true && value !== asked.shown) {
    known = await search.anew(asked, signal, known);
    value = await valueAt(tools, asked, known, signal);
  }
  if (known === null || value === null)
    return unproven(isLive ? 'rebasing' : 'no-slot-found', 'no known place of its storage holds its balances');
  if (value === asked.shown) return proven('storage', value);
  if (isLive) return unproven('rebasing', 'its balances change without transfers, or not by them');
  return judge(tools, asked, { value, witnesses: known.witnesses }, signal);
}

async function valueAt(
  { proofs }: Tools,
  { token, wallet }: ShownOfToken,
  known: KnownSlot | null,
  signal: AbortSignal,
): Promise<bigint | null> {
  if (known === null) return null;
  const { slots } = await proofs.read(token, [slotOfHolder(known, wallet)], signal);
  return slots[0] ?? null;
}

/** The place holds something else than what is shown: a lie, or a token that keeps this balance in another way. */
async function judge(
  tools: Tools,
  asked: ShownOfToken,
  { value, witnesses }: { readonly value: bigint; readonly witnesses: number },
  signal: AbortSignal,
): Promise<BalanceProof> {
  if (value - FLAG === asked.shown) return unproven('not-plain', 'a flag stands beside the balance in its storage');
  const opinions = await askAround(tools, asked, value, signal);
  // What follows from what is indexed was told by somebody once: the first who still says so is no second opinion.
  const says = (said: bigint) => opinions.filter((opinion) => opinion.said === said).map(({ upstream }) => upstream);
  const [truthful] = says(value);
  const [teller = null, ...others] = asked.toldBy === null ? says(asked.shown) : [asked.toldBy, ...says(asked.shown)];
  const another =
    opinions.find(({ upstream }) => upstream === truthful) ?? opinions.find(({ upstream }) => upstream !== teller);
  const detail = whoSaysWhat({ ...asked, toldBy: teller }, tools.block, value, another);
  if (others.length > 0) return unproven('not-plain', detail);
  if (truthful !== undefined && teller !== null) blame(tools, asked, { liar: teller, value });
  if (truthful !== undefined || witnesses >= WITNESSES_MIN)
    return contradicted('storage', value, detail, truthful !== undefined);
  return unproven('no-slot-found', `${detail}; too few holders are known to tell where its balances lie`);
}

/** What an upstream says of a balance; null: nothing that is a number. */
interface Opinion {
  readonly said: bigint | null;
  readonly upstream: string;
}

/** So many others are asked what they say. */
const OPINIONS_MAX = 3;

/** Asks other upstreams one after the other, until two say what is shown, or who says so and one who says what the state has are known. */
async function askAround(
  tools: Tools,
  asked: ShownOfToken,
  value: bigint,
  signal: AbortSignal,
): Promise<readonly Opinion[]> {
  const opinions: Opinion[] = [];
  const heard = new Set(asked.toldBy === null ? [] : [asked.toldBy]);
  while (opinions.length < OPINIONS_MAX) {
    const opinion = await askAnother(tools, asked, heard, signal);
    if (opinion === null) break;
    opinions.push(opinion);
    heard.add(opinion.upstream);
    const tellers = opinions.filter(({ said }) => said === asked.shown).length + (asked.toldBy === null ? 0 : 1);
    if (tellers > 1 || (tellers === 1 && opinions.some(({ said }) => said === value))) break;
  }
  return opinions;
}

/** Null where nobody else can be asked. */
async function askAnother(
  { pool, chain, block }: Tools,
  { token, wallet }: ShownOfToken,
  heard: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Opinion | null> {
  const others = pool.status().filter(({ name, state }) => state !== 'disabled' && !heard.has(name));
  if (others.length === 0) return null;
  const state = stateAt(pool, chain, block, { notFrom: heard });
  try {
    const [answer] = await state.askTogether([{ to: token, data: balanceOfCall(wallet) }], signal);
    return answer === undefined ? null : { said: readBalance(answer.data), upstream: answer.upstream };
  } catch (error) {
    // Whoever could not be asked has no opinion.
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    return null;
  }
}

/** Its answers are worth less from now on, and the operator hears of it. */
function blame(
  { pool, block }: Tools,
  { token, wallet, shown }: ShownOfToken,
  { liar, value }: { readonly liar: string; readonly value: bigint },
): void {
  const facts = { block: block.number, token, wallet, said: shown.toString(), proven: value.toString() };
  pool.reportFault(liar, 'balance-mismatch', facts);
}

function whoSaysWhat({ shown, toldBy }: Shown, block: BlockOfState, value: bigint, another?: Opinion): string {
  const second = another === undefined ? '' : `, ${another.upstream} says ${another.said ?? 'nothing'}`;
  return `${toldBy ?? 'the index'} says ${shown}${second}, the state of block ${block.number} has ${value}`;
}

function proven(proof: 'account' | 'storage', value: bigint): BalanceProof {
  return { verdict: 'proven', proof, proven: value, reason: null, detail: null, isSeconded: false };
}

function contradicted(proof: 'account' | 'storage', value: bigint, detail: string, isSeconded: boolean): BalanceProof {
  return { verdict: 'contradicted', proof, proven: value, reason: null, detail, isSeconded };
}

function unproven(reason: UnprovableReason, detail: string): BalanceProof {
  return { verdict: 'unproven', proof: null, proven: null, reason, detail, isSeconded: false };
}
