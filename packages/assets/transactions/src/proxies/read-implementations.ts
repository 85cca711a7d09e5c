import { type Address, type Hash, type Hex, parseHash } from '@chainstead/core';
import { returnedWord } from '@chainstead/events/abi';
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

export interface PointedTo {
  readonly form: ProxyForm;
  readonly implementation: Address | null;
  readonly beacon: Address | null;
  /** Null: the diamond has no such function. */
  readonly facets: ReadonlyMap<Hex, Address | null>;
  /** Hash of self-contained code; null: none, or it delegates to other code. */
  readonly codeHash: Hash | null;
}

export async function readImplementations(
  state: StateAt,
  contracts: readonly RequestedContract[],
  signal: AbortSignal,
): Promise<readonly PointedTo[]> {
  const addresses = contracts.map(({ address }) => address);
  const codes = await state.codes(addresses, signal);
  const coded = contracts.map((contract, index) => ({ ...contract, code: codes[index] ?? '0x' }));
  const silent = coded.filter(({ code }) => code.length > 2 && namedInCode(code) === null);
  const places = silent.flatMap(({ address }) => FORMS.map((form) => ({ address, slot: SLOTS[form] })));
  const words = await state.storage(places, signal);
  const stored = new Map(
    silent.map(({ address, code }, position) => {
      const own = words.slice(position * FORMS.length, (position + 1) * FORMS.length);
      const slots = FORMS.map((form, index) => ({ form, target: addressInWord(own[index]) }));
      return [
        address,
        slots.find(({ form, target }) => target !== null && (form !== 'safe' || isSafeProxy(code))),
      ];
    }),
  );
  const namedBeacons = [...stored.values()].flatMap((slot) =>
    slot?.form === 'eip-1967-beacon' ? (slot.target ?? []) : [],
  );
  const slotless = silent.filter(({ address }) => stored.get(address) === undefined);
  const [beacons, facets] = await Promise.all([
    fetchBeacons(state, namedBeacons, signal),
    fetchFacets(state, slotless, signal),
  ]);
  return coded.map(({ address, code }): PointedTo => {
    const named = namedInCode(code);
    if (named !== null) return { ...NOTHING, ...named };
    const { form, target } = stored.get(address) ?? { target: null };
    if (form === 'eip-1967-beacon' && target !== null) {
      const implementation = beacons.get(target);
      return implementation === undefined ? UNREAD : { ...NOTHING, form, beacon: target, implementation };
    }
    if (form !== undefined) return { ...NOTHING, form, implementation: target };
    const own = facets.get(address);
    if (own === 'unread') return UNREAD;
    if (own !== undefined) return { ...NOTHING, form: 'eip-2535', facets: own };
    return code.length > 2 ? { ...NOTHING, codeHash: parseHash(keccak256(code as Hex)) } : NOTHING;
  });
}

const FORMS = ['eip-1967', 'eip-1967-beacon', 'eip-1822', 'openzeppelin', 'safe'] as const;
const NOTHING: PointedTo = {
  form: 'none',
  implementation: null,
  beacon: null,
  facets: new Map(),
  codeHash: null,
};
export const UNREAD: PointedTo = { ...NOTHING, form: 'unread' };

async function fetchBeacons(state: StateAt, beacons: readonly Address[], signal: AbortSignal) {
  const calls = beacons.map((to) => ({ to, data: BEACON_CALL }));
  const answers = await state.fetchTogether(calls, signal);
  return new Map(
    beacons.flatMap((beacon, index) => {
      const answer = answers[index];
      if (answer === undefined || answer.unread !== undefined) return [];
      return [[beacon, addressInWord(returnedWord(answer.data))] as const];
    }),
  );
}

async function fetchFacets(state: StateAt, contracts: readonly RequestedContract[], signal: AbortSignal) {
  const calls = contracts.flatMap(({ address, selectors }) =>
    selectors.map((selector) => ({ address, selector })),
  );
  const answers = await state.fetchTogether(
    calls.map(({ address, selector }) => ({ to: address, data: facetCall(selector) })),
    signal,
  );
  const facets = new Map<Address, Map<Hex, Address | null> | 'unread'>();
  for (const [index, { address, selector }] of calls.entries()) {
    const answer = returnedWord(answers[index]?.data);
    const own = facets.get(address) ?? new Map<Hex, Address | null>();
    if (answers[index]?.unread !== undefined || own === 'unread') facets.set(address, 'unread');
    else if (isAddressWord(answer)) facets.set(address, own.set(selector, addressInWord(answer)));
  }
  return facets;
}
