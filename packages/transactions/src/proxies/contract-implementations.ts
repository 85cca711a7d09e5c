import { type Address, type Hex, isAddress, parseAddress } from '@chainstead/core';
import {
  type BlockToRead,
  knownBlock,
  type StateKind,
  StateNotArchivedError,
  type StateReader,
  type StateReadingContext,
  stateAt,
} from '@chainstead/state';
import { z } from 'zod';
import { type ContractCode, contractsWithoutCode, saveCodes } from '../abis/contract-codes.ts';
import { UNANNOUNCED } from './proxy-forms.ts';
import { type AskedContract, type PointedTo, readImplementations, UNREAD } from './read-implementations.ts';
import { beginReading, type ImplementationRow, saveImplementations } from './save-implementations.ts';

/** A call of a contract whose own ABI does not know it. */
export interface AskedImplementation {
  readonly address: string;
  readonly selector: string;
  readonly block: number;
}

interface Question {
  /** As {@link questionItem} writes them. */
  items: string[];
}

/** How many contracts were read. */
interface Answer {
  contracts: number;
}

const ITEM = /^(0x[0-9a-f]{40}) (0x[0-9a-f]{8}) (\d{1,15})$/;

/** Whose code contracts acted by when they were called. Nobody waits for it: later pages are told by what was found. */
export const implementationsKind: StateKind<Question, Answer> = {
  name: 'contract-implementations',
  question: z.object({ items: z.array(z.string().regex(ITEM)).min(1) }),
  answer: z.object({ contracts: z.int() }),
  isSlow: true,
};

/** An item of a question. */
export function questionItem({ address, selector, block }: AskedImplementation): string {
  return `${address} ${selector} ${block}`;
}

/** Reads what contracts point to, and those that point to nothing by the hash of their code, at the newest committed block and at the first of those that were asked about, and keeps it. */
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

/** Contracts with an ABI whose code is read along: what they know counts for others of the same code. */
const EXAMPLES_AT_ONCE = 50;

function codesOf(addresses: readonly Address[], read: readonly PointedTo[]): readonly ContractCode[] {
  const hashes = new Map(addresses.map((address, place) => [address, read[place]?.codeHash ?? null]));
  return [...hashes].map(([address, hash]) => ({ address, hash }));
}

interface CalledContract extends AskedContract {
  /** The first block in which it was called. */
  readonly first: number;
}

function contractsOf(items: readonly string[]): readonly CalledContract[] {
  const asked = items.flatMap((item) => {
    const [, address, selector, block] = ITEM.exec(item) ?? [];
    return isAddress(address) && selector !== undefined
      ? [{ address: parseAddress(address), selector: selector as Hex, block: Number(block) }]
      : [];
  });
  return [...Map.groupBy(asked, ({ address }) => address)].map(([address, calls]) => ({
    address,
    selectors: [...new Set(calls.map(({ selector }) => selector))],
    first: calls.reduce((first, { block }) => Math.min(first, block), Number.POSITIVE_INFINITY),
  }));
}

/** By contract, at the first block that was asked about; null where no node has kept its state. */
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

/** @param former not given: nobody asked for an earlier block */
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

/** The contract itself, and of a diamond each function that was asked about. */
function targetsOf(proxy: Address, { form, implementation, beacon, facets }: PointedTo): readonly Target[] {
  return [
    { proxy, selector: null, implementation, beacon, form },
    ...[...facets].map(([selector, facet]) => ({ proxy, selector, implementation: facet, beacon: null, form })),
  ];
}

function keyOf({ proxy, selector, fromBlock }: ImplementationRow): string {
  return `${proxy} ${selector} ${fromBlock}`;
}
