import { type Address, type Hash, isAddress, MAX_UINT256, parseAddress, parseHash } from '@chainstead/core';

type ExplorerSubject =
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'nft'; readonly address: Address; readonly tokenId: string }
  | { readonly kind: 'hash'; readonly hash: Hash }
  | { readonly kind: 'block'; readonly number: number }
  | { readonly kind: 'aptos'; readonly address: string }
  | { readonly kind: 'name'; readonly name: string };

const HEX_256 = /^0x[0-9a-f]{64}$/i;
/** Aptos omits leading zeros: `0x1`. */
const SHORT_APTOS = /^0x[0-9a-f]{1,63}$/i;
const APTOS_DIGITS = 64;
const NFT = /^(0x[0-9a-f]{40})[/: ](\d{1,78}|0x[0-9a-f]{1,64})$/i;
const BLOCK = /^#?(\d{1,15})$/;
const NAME = /^[^\s/]{1,250}\.[^\s/.\d]{2,60}$/u;

export function readSubject(given: string): ExplorerSubject | null {
  const text = given.trim();
  if (isAddress(text)) return { kind: 'address', address: parseAddress(text) };
  if (HEX_256.test(text)) return { kind: 'hash', hash: parseHash(text) };
  if (SHORT_APTOS.test(text)) return { kind: 'aptos', address: wholeAptosAddress(text) };
  const [, contract, id] = NFT.exec(text) ?? [];
  if (contract !== undefined && id !== undefined) {
    const tokenId = readTokenId(id);
    return tokenId === null ? null : { kind: 'nft', address: parseAddress(contract), tokenId };
  }
  const [, digits] = BLOCK.exec(text) ?? [];
  if (digits !== undefined) return { kind: 'block', number: Number(digits) };
  return NAME.test(text) ? { kind: 'name', name: text } : null;
}

export function readTokenId(text: string): string | null {
  if (!/^(?:\d{1,78}|0x[0-9a-f]{1,64})$/i.test(text)) return null;
  const id = BigInt(text);
  return id <= MAX_UINT256 ? id.toString() : null;
}

export function wholeAptosAddress(text: string): string {
  return `0x${text.slice(2).toLowerCase().padStart(APTOS_DIGITS, '0')}`;
}

export function pageOf(subject: ExplorerSubject): string {
  const at = (...parts: readonly string[]): string => `/console/look-up/${parts.join('/')}`;
  switch (subject.kind) {
    case 'nft':
      return at('nft', subject.address, subject.tokenId);
    case 'hash':
      return at('hash', subject.hash);
    case 'block':
      return at('block', String(subject.number));
    case 'name':
      return at('name', encodeURIComponent(subject.name));
    case 'address':
    case 'aptos':
      return at(subject.kind, subject.address);
  }
}
