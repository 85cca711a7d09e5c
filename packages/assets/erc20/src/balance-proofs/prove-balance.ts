import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { stateAt } from '@chainstead/node-reads';
import type { UpstreamPool } from '@chainstead/rpc';
import { balanceOfCall, readBalance } from '../calls/fetch-balances.ts';
import { slotOfHolder } from './balance-slot.ts';
import { createSlotSearch, type KnownSlot, type SlotSearch } from './slot-search.ts';
import {
  type BlockOfState,
  createStateProofs,
  type RefusedAnswer,
  type StateProofs,
  UnprovableError,
  type UnprovableReason,
} from './state-proofs.ts';
import { isLiveToken } from './stored-slots.ts';

export interface BalanceToProve {
  readonly wallet: Address;
  /** Null: the native token. */
  readonly token: Address | null;
  /** Base units; null if the contract returns none. */
  readonly shown: bigint | null;
  /** Upstream; null if derived from indexed data. */
  readonly reportedBy: string | null;
}

export interface BalanceProof {
  readonly verdict: 'proven' | 'contradicted' | 'unproven';
  readonly proof: 'account' | 'storage' | null;
  readonly proven: bigint | null;
  readonly reason: UnprovableReason | null;
  /** Null if proven. */
  readonly detail: string | null;
  /** An upstream confirms the state's value: the other source was wrong. */
  readonly isSeconded: boolean;
}

export interface BalanceProver {
  readonly refused: readonly RefusedAnswer[];
  /** An unprovable balance is a verdict, too. @throws RequestAbortedError, DatabaseError */
  proveBalance(balance: BalanceToProve, signal: AbortSignal): Promise<BalanceProof>;
}

export interface BalanceProverOptions {
  readonly database: Database;
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  /** Must be committed: its header's state root is the basis. */
  readonly block: BlockOfState;
}

/** Some tokens store a flag in the highest bit, for example USDC for blacklisted accounts. */
const FLAG = 1n << 255n;
/** Holders that confirm the location before it can contradict a balance. */
const WITNESSES_MIN = 2;

export function createBalanceProver(options: BalanceProverOptions): BalanceProver {
  const proofs = createStateProofs(options);
  const search = createSlotSearch({ ...options, proofs });
  const tools = { ...options, proofs, search };
  return {
    refused: proofs.refused,
    async proveBalance({ wallet, token, shown, reportedBy }, signal) {
      if (shown === null) return unproven('no-balance', 'balanceOf gives no number');
      const requested = { wallet, shown, reportedBy };
      try {
        if (token !== null) return await proveToken(tools, { ...requested, token }, signal);
        const { balance } = await proofs.read(wallet, [], signal);
        return balance === shown
          ? proven('account', balance)
          : contradicted('account', balance, whoSaysWhat(requested, options.block, balance), false);
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

type ShownOfToken = Omit<BalanceToProve, 'token' | 'shown'> & { readonly token: Address; readonly shown: bigint };

async function proveToken(tools: Tools, requested: ShownOfToken, signal: AbortSignal): Promise<BalanceProof> {
  const { database, chain, search } = tools;
  const isLive = await isLiveToken(database, chain, requested.token);
  let known = await search.known(requested, signal);
  let value = await valueAt(tools, requested, known, signal);
  // An upgraded contract may store balances elsewhere.
  if (known?.isKept === true && value !== requested.shown) {
    known = await search.anew(requested, signal, known);
    value = await valueAt(tools, requested, known, signal);
  }
  if (known === null || value === null)
    return unproven(isLive ? 'rebasing' : 'no-slot-found', 'no known place of its storage holds its balances');
  if (value === requested.shown) return proven('storage', value);
  if (isLive) return unproven('rebasing', 'its balances change without transfers, or not by them');
  return judge(tools, requested, { value, witnesses: known.witnesses }, signal);
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

/** Either an upstream is wrong, or the token stores this balance in another way. */
async function judge(
  tools: Tools,
  requested: ShownOfToken,
  { value, witnesses }: { readonly value: bigint; readonly witnesses: number },
  signal: AbortSignal,
): Promise<BalanceProof> {
  if (value - FLAG === requested.shown)
    return unproven('not-plain', 'the storage slot holds a flag next to the balance');
  const opinions = await fetchElsewhere(tools, requested, value, signal);
  // Indexed values once came from an upstream: the first that returns one is no second source.
  const says = (said: bigint) =>
    opinions.filter((opinion) => opinion.said === said).map(({ upstream }) => upstream);
  const [truthful] = says(value);
  const [reporter = null, ...others] =
    requested.reportedBy === null ? says(requested.shown) : [requested.reportedBy, ...says(requested.shown)];
  const another =
    opinions.find(({ upstream }) => upstream === truthful) ??
    opinions.find(({ upstream }) => upstream !== reporter);
  const detail = whoSaysWhat({ ...requested, reportedBy: reporter }, tools.block, value, another);
  if (others.length > 0) return unproven('not-plain', detail);
  if (truthful !== undefined && reporter !== null) {
    const { block, pool } = tools;
    const { token, wallet, shown } = requested;
    const facts = { block: block.number, token, wallet, said: shown.toString(), proven: value.toString() };
    pool.reportFault(reporter, 'balance-mismatch', facts);
  }
  if (truthful !== undefined || witnesses >= WITNESSES_MIN)
    return contradicted('storage', value, detail, truthful !== undefined);
  return unproven(
    'no-slot-found',
    `${detail}; too few holders are known to find the storage slot of its balances`,
  );
}

interface Opinion {
  readonly said: bigint | null;
  readonly upstream: string;
}

const OPINIONS_MAX = 3;

/** Until two upstreams return the shown value, or one does and another returns the state's. */
async function fetchElsewhere(
  tools: Tools,
  requested: ShownOfToken,
  value: bigint,
  signal: AbortSignal,
): Promise<readonly Opinion[]> {
  const opinions: Opinion[] = [];
  const heard = new Set(requested.reportedBy === null ? [] : [requested.reportedBy]);
  while (opinions.length < OPINIONS_MAX) {
    const opinion = await fetchFromAnother(tools, requested, heard, signal);
    if (opinion === null) break;
    opinions.push(opinion);
    heard.add(opinion.upstream);
    const reporters =
      opinions.filter(({ said }) => said === requested.shown).length + (requested.reportedBy === null ? 0 : 1);
    if (reporters > 1 || (reporters === 1 && opinions.some(({ said }) => said === value))) break;
  }
  return opinions;
}

async function fetchFromAnother(
  { pool, chain, block }: Tools,
  { token, wallet }: ShownOfToken,
  heard: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Opinion | null> {
  const others = pool.status().filter(({ name, state }) => state !== 'disabled' && !heard.has(name));
  if (others.length === 0) return null;
  const state = stateAt(pool, chain, block, { notFrom: heard });
  try {
    const [answer] = await state.fetchTogether([{ to: token, data: balanceOfCall(wallet) }], signal);
    return answer === undefined ? null : { said: readBalance(answer.data), upstream: answer.upstream };
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    return null;
  }
}

function whoSaysWhat(
  { shown, reportedBy }: Pick<ShownOfToken, 'shown' | 'reportedBy'>,
  block: BlockOfState,
  value: bigint,
  another?: Opinion,
): string {
  const second = another === undefined ? '' : `, ${another.upstream} says ${another.said ?? 'nothing'}`;
  return `${reportedBy ?? 'the index'} says ${shown}${second}, the state of block ${block.number} has ${value}`;
}

function proven(proof: 'account' | 'storage', value: bigint): BalanceProof {
  return { verdict: 'proven', proof, proven: value, reason: null, detail: null, isSeconded: false };
}

function contradicted(
  proof: 'account' | 'storage',
  value: bigint,
  detail: string,
  isSeconded: boolean,
): BalanceProof {
  return { verdict: 'contradicted', proof, proven: value, reason: null, detail, isSeconded };
}

function unproven(reason: UnprovableReason, detail: string): BalanceProof {
  return { verdict: 'unproven', proof: null, proven: null, reason, detail, isSeconded: false };
}
