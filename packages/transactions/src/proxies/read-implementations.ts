import { returnedWord } from '@chainstead/abi';
import { type Address, type Hash, type Hex, parseHash } from '@chainstead/core';
import type { StateAt } from '@chainstead/node-reads';
import { keccak256 } from 'viem/utils';
import {
  addressInWord,
  BEACON_CALL,
  facetCall,
  isAddressWord,
  isSafeProxy,
  namedInCode,
  type ProxyForm,
  SLOTS,
} from './proxy-forms.ts';

export interface RequestedContract {
  readonly address: Address;
  readonly selectors: readonly Hex[];
}

/** The implementation of a contract at one block. */
export interface PointedTo {
  readonly form: ProxyForm;
  readonly implementation: Address | null;
  readonly beacon: Address | null;
  /** The facets of a diamond, by selector; null if it has no such function. */
  readonly facets: ReadonlyMap<Hex, Address | null>;
  /** The hash of self-contained code; null if there is none, or it delegates to other code. */
  readonly codeHash: Hash | null;
}

/**
 * Returns the implementations of contracts at a block, in order: by their code, then by storage, then by their call
 * results.
 */
export async function readImplementations(
  state: StateAt,
  contracts: readonly RequestedContract[],
  signal: AbortSignal,
): Promise<readonly PointedTo[]> {
  const codes = await state.codes(
    contracts.map(({ address }) => address),
    signal,
  );
  const coded = contracts.map((contract, place) => ({ ...contract, code: codes[place] ?? '0x' }));
  const silent = coded.filter(({ code }) => code.length > 2 && namedInCode(code) === null);
  const places = silent.flatMap(({ address }) => FORMS.map((form) => ({ address, slot: SLOTS[form] })));
  const words = await state.storage(places, signal);
  const stored = new Map(
    silent.map(({ address, code }, place) => {
      const own = words.slice(place * FORMS.length, (place + 1) * FORMS.length);
      const found = FORMS.map((form, index) => ({ form, target: addressInWord(own[index]) }));
      return [address, found.find(({ form, target }) => target !== null && (form !== 'safe' || isSafeProxy(code)))];
    }),
  );
  const [beacons, facets] = await Promise.all([
    fetchBeacons(
      state,
      [...stored.values()].flatMap((found) => (found?.form === 'eip-1967-beacon' ? (found.target ?? []) : [])),
      signal,
    ),
    fetchFacets(
      state,
      silent.filter(({ address }) => stored.get(address) === undefined),
      signal,
    ),
  ]);
  return coded.map(({ address, code }): PointedTo => {
    const named = namedInCode(code);
    if (named !== null) return { ...NOTHING, ...named };
    const found = stored.get(address);
    if (found?.form === 'eip-1967-beacon' && found.target !== null)
      return beacons.has(found.target)
        ? { ...NOTHING, form: found.form, beacon: found.target, implementation: beacons.get(found.target) ?? null }
        : UNREAD;
    if (found !== undefined) return { ...NOTHING, form: found.form, implementation: found.target };
    const own = facets.get(address);
    if (own === 'unread') return UNREAD;
    if (own !== undefined) return { ...NOTHING, form: 'eip-2535', facets: own };
    return code.length > 2 ? { ...NOTHING, codeHash: parseHash(keccak256(code as Hex)) } : NOTHING;
  });
}

const FORMS = ['eip-1967', 'eip-1967-beacon', 'eip-1822', 'openzeppelin', 'safe'] as const;

/** The result if it can't be determined now. */
export const UNREAD: PointedTo = {
  form: 'unread',
  implementation: null,
  beacon: null,
  facets: new Map(),
  codeHash: null,
};

const NOTHING: PointedTo = { form: 'none', implementation: null, beacon: null, facets: new Map(), codeHash: null };

/** Those that could not be read are missing. */
async function fetchBeacons(
  state: StateAt,
  beacons: readonly Address[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, Address | null>> {
  const answers = await state.fetchTogether(
    beacons.map((to) => ({ to, data: BEACON_CALL })),
    signal,
  );
  return new Map(
    beacons.flatMap((beacon, place) => {
      const answer = answers[place];
      if (answer === undefined || answer.unread !== undefined) return [];
      return [[beacon, addressInWord(returnedWord(answer.data))] as const];
    }),
  );
}

/** For contracts that respond like diamonds, and those that could not be read. */
async function fetchFacets(
  state: StateAt,
  contracts: readonly RequestedContract[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, PointedTo['facets'] | 'unread'>> {
  const calls = contracts.flatMap(({ address, selectors }) => selectors.map((selector) => ({ address, selector })));
  const answers = await state.fetchTogether(
    calls.map(({ address, selector }) => ({ to: address, data: facetCall(selector) })),
    signal,
  );
  const facets = new Map<Address, Map<Hex, Address | null> | 'unread'>();
  for (const [place, { address, selector }] of calls.entries()) {
    const answer = returnedWord(answers[place]?.data);
    const own = facets.get(address) ?? new Map<Hex, Address | null>();
    if (answers[place]?.unread !== undefined || own === 'unread') facets.set(address, 'unread');
    else if (isAddressWord(answer)) facets.set(address, own.set(selector, addressInWord(answer)));
  }
  return facets;
}
