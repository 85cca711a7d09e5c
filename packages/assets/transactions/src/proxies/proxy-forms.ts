import { type Address, type Hex, parseAddress } from '@chainstead/core';

/** `unread`: it could not be determined. */
export type ProxyForm =
  | 'eip-1167'
  | 'eip-1822'
  | 'eip-1967'
  | 'eip-1967-beacon'
  | 'eip-2535'
  | 'eip-7702'
  | 'none'
  | 'openzeppelin'
  | 'safe'
  | 'unread';

/** Known only for the exact blocks that were read. */
export const UNANNOUNCED: ReadonlySet<ProxyForm> = new Set(['eip-1822', 'eip-7702', 'safe', 'unread']);

/** In order of precedence. */
export const SLOTS = {
  /** `keccak256('eip1967.proxy.implementation') - 1` */
  'eip-1967': '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  /** `keccak256('eip1967.proxy.beacon') - 1` */
  'eip-1967-beacon': '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
  /** `keccak256('PROXIABLE')` */
  'eip-1822': '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
  /** `keccak256('org.zeppelinos.proxy.implementation')` */
  openzeppelin: '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
  safe: `0x${'0'.repeat(64)}`,
} as const satisfies Partial<Record<ProxyForm, Hex>>;

/** `implementation()` of a beacon. */
export const BEACON_CALL: Hex = '0x5c60da1b';

/** `facetAddress(bytes4)` of a diamond. */
export function facetCall(selector: Hex): Hex {
  return `0xcdffacc6${selector.slice(2).padEnd(64, '0')}`;
}

const CLONE = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3/;
const DELEGATION = /^0xef0100([0-9a-f]{40})$/;

/** A clone's origin (EIP-1167) or delegate (EIP-7702). */
export function namedInCode(code: Hex): { readonly form: ProxyForm; readonly implementation: Address } | null {
  const [, origin] = CLONE.exec(code) ?? [];
  if (origin !== undefined) return { form: 'eip-1167', implementation: parseAddress(`0x${origin}`) };
  const [, delegate] = DELEGATION.exec(code) ?? [];
  return delegate === undefined ? null : { form: 'eip-7702', implementation: parseAddress(`0x${delegate}`) };
}

/** `masterCopy()`, which a Safe's proxy implements. Others store anything in the first slot. */
const SAFE_CALL = 'a619486e';
const SAFE_CODE_MAX = 1_000;

export function isSafeProxy(code: Hex): boolean {
  return code.length <= SAFE_CODE_MAX && code.includes(SAFE_CALL);
}

/** Null: zero, or no address. */
export function addressInWord(word: Hex | null | undefined): Address | null {
  const [, digits] = /^0x0{24}([0-9a-f]{40})$/.exec(word ?? '') ?? [];
  return digits === undefined || /^0+$/.test(digits) ? null : parseAddress(`0x${digits}`);
}

export function isAddressWord(word: Hex | null | undefined): boolean {
  return /^0x0{24}[0-9a-f]{40}$/.test(word ?? '');
}
