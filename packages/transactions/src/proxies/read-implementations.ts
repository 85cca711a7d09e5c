import { returnedWord } from '@chainstead/abi';
import { type Address, type Hash, type Hex, parseHash } from '@chainstead/core';
import type { StateAt } from '@chainstead/state';
import { keccak256 } from 'viem';
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

/** A contract, and which of its functions were called. */
export interface AskedContract {
  readonly address: Address;
  readonly selectors: readonly Hex[];
}

/** Whose code a contract acts by at one block. */
export interface PointedTo {
  readonly form: ProxyForm;
  readonly implementation: Address | null;
  readonly beacon: Address | null;
  /** Of a diamond, by selector; null where it has no such function. */
  readonly facets: ReadonlyMap<Hex, Address | null>;
  /** Of code that is all there is to it; null where there is none, or it acts by that of others. */
  readonly codeHash: Hash | null;
}

/** What contracts point to at a block, in their order: by their code, then by storage, then by what they answer. */
export async function readImplementations(
  state: StateAt,
  contracts: readonly AskedContract[],
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
    askBeacons(
      state,
      [...stored.values()].flatMap((found) => (found?.form === 'eip-1967-beacon' ? (found.target ?? []) : [])),
      signal,
    ),
    askFacets(
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

/** What nobody can tell now. */
export const UNREAD: PointedTo = {
  form: 'unread',
  implementation: null,
  beacon: null,
  facets: new Map(),
  codeHash: null,
};

const NOTHING: PointedTo = { form: 'none', implementation: null, beacon: null, facets: new Map(), codeHash: null };

/** Those that could not be read are missing. */
async function askBeacons(
  state: StateAt,
  beacons: readonly Address[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, Address | null>> {
  const answers = await state.askTogether(
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

/** Of those that answer as diamonds do, and those that could not be read. */
async function askFacets(
  state: StateAt,
  contracts: readonly AskedContract[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, PointedTo['facets'] | 'unread'>> {
  const calls = contracts.flatMap(({ address, selectors }) => selectors.map((selector) => ({ address, selector })));
  const answers = await state.askTogether(
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
