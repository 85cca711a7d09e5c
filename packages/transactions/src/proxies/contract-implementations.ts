import { type Address, type Hex, isAddress, parseAddress } from '@chainstead/core';
import {
  type BlockToRead,
  knownBlock,
  type StateKind,
  StateNotArchivedError,
  type StateReader,
  type StateReadingContext,
  stateAt,
} from '@chainstead/node-reads';
import { z } from 'zod';
import { type ContractCode, contractsWithoutCode, saveCodes } from '../abis/contract-codes.ts';
import { UNANNOUNCED } from './proxy-forms.ts';
import { type PointedTo, type RequestedContract, readImplementations, UNREAD } from './read-implementations.ts';
import { beginReading, type ImplementationRow, saveImplementations } from './save-implementations.ts';

/** A call of a contract without a match in its own ABI. */
export interface RequestedImplementation {
  readonly address: string;
  readonly selector: string;
  readonly block: number;
}

interface Question {
  /** In the format of {@link questionItem}. */
  items: string[];
}

/** The number of contracts that were read. */
interface Answer {
  contracts: number;
}

const ITEM = /^(0x[0-9a-f]{40}) (0x[0-9a-f]{8}) (\d{1,15})$/;

/** The implementations of contracts when they were called. No request waits for it: later pages use the result. */
export const implementationsKind: StateKind<Question, Answer> = {
  name: 'contract-implementations',
  question: z.object({ items: z.array(z.string().regex(ITEM)).min(1) }),
  answer: z.object({ contracts: z.int() }),
  callsOf: ({ items }) => items.length,
  isSlow: true,
};

/** Returns an item of a state read. */
export function questionItem({ address, selector, block }: RequestedImplementation): string {
  return `${address} ${selector} ${block}`;
}

/**
 * Reads and stores what contracts point to, at the newest committed block and at the first requested one; for contracts
 * that point to nothing, the hash of their code.
 */
export const implementationsReader: StateReader<Question, Answer> = {
  kind: implementationsKind,
  async read(context, { items }, signal) {
    const { chain, pool, database } = context;
    const contracts = contractsOf(items);
    const block = await beginReading(
      database,
      chain,
      contracts.map(({ address }) => address),
    );
    if (block === null) return { contracts: 0 };
    const examples = await contractsWithoutCode(database, chain, EXAMPLES_AT_ONCE);
    const read = await readImplementations(
      stateAt(pool, chain, block),
      [...contracts, ...examples.map((address) => ({ address, selectors: [] }))],
      signal,
    );
    const now = read.slice(0, contracts.length);
    const former = await readFormer(context, contracts, block.number, signal);
    const rows = contracts.flatMap((contract, place) =>
      rowsOf(contract, block.number, now[place], former.get(contract.address)),
    );
    await saveImplementations(database, chain, block, [...new Map(rows.map((row) => [keyOf(row), row])).values()]);
    await saveCodes(database, chain, block, codesOf([...contracts.map(({ address }) => address), ...examples], read));
    return { contracts: contracts.length };
  },
};

/** Contracts with an ABI whose code is read in the same batch: their ABI applies to others with the same code. */
const EXAMPLES_AT_ONCE = 50;

function codesOf(addresses: readonly Address[], read: readonly PointedTo[]): readonly ContractCode[] {
  const hashes = new Map(addresses.map((address, place) => [address, read[place]?.codeHash ?? null]));
  return [...hashes].map(([address, hash]) => ({ address, hash }));
}

interface CalledContract extends RequestedContract {
  /** The first block in which it was called. */
  readonly first: number;
}

function contractsOf(items: readonly string[]): readonly CalledContract[] {
  const requested = items.flatMap((item) => {
    const [, address, selector, block] = ITEM.exec(item) ?? [];
    return isAddress(address) && selector !== undefined
      ? [{ address: parseAddress(address), selector: selector as Hex, block: Number(block) }]
      : [];
  });
  return [...Map.groupBy(requested, ({ address }) => address)].map(([address, calls]) => ({
    address,
    selectors: [...new Set(calls.map(({ selector }) => selector))],
    first: calls.reduce((first, { block }) => Math.min(first, block), Number.POSITIVE_INFINITY),
  }));
}

/** By contract, at the first requested block; null if no node has its state. */
async function readFormer(
  { chain, pool, database }: StateReadingContext,
  contracts: readonly CalledContract[],
  newest: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, PointedTo | null>> {
  const former = new Map<Address, PointedTo | null>();
  const older = contracts.filter(({ first }) => first < newest);
  for (const [number, called] of Map.groupBy(older, ({ first }) => first)) {
    const at: BlockToRead = (await knownBlock(database, chain, number)) ?? { number };
    const read = await readImplementations(stateAt(pool, chain, at), called, signal).catch(unlessArchived);
    for (const [place, { address }] of called.entries()) former.set(address, read?.[place] ?? null);
  }
  return former;
}

function unlessArchived(error: unknown): null {
  if (error instanceof StateNotArchivedError) return null;
  throw error;
}

/** @param former absent: no earlier block was requested */
function rowsOf(
  { address, first }: CalledContract,
  newest: number,
  now: PointedTo | undefined,
  former: PointedTo | null | undefined,
): readonly ImplementationRow[] {
  if (now === undefined) return [];
  const { form } = now;
  const untilNow = UNANNOUNCED.has(form) ? newest : null;
  const rows = targetsOf(address, now).map((row) => ({ ...row, fromBlock: newest, untilBlock: untilNow }));
  // Its code never changes.
  if (form === 'eip-1167') return [...rows, ...rows.map((row) => ({ ...row, fromBlock: 0 }))];
  if (former === undefined) return rows;
  const then = targetsOf(address, former ?? UNREAD);
  const isSame = JSON.stringify(then) === JSON.stringify(targetsOf(address, now));
  return [...rows, ...then.map((row) => ({ ...row, fromBlock: first, untilBlock: isSame ? newest : first }))];
}

type Target = Omit<ImplementationRow, 'fromBlock' | 'untilBlock'>;

/** Returns the contract itself, and for a diamond each requested function. */
function targetsOf(proxy: Address, { form, implementation, beacon, facets }: PointedTo): readonly Target[] {
  return [
    { proxy, selector: null, implementation, beacon, form },
    ...[...facets].map(([selector, facet]) => ({ proxy, selector, implementation: facet, beacon: null, form })),
  ];
}

function keyOf({ proxy, selector, fromBlock }: ImplementationRow): string {
  return `${proxy} ${selector} ${fromBlock}`;
}
