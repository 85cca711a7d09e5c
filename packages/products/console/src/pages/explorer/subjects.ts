import { type AptosNetwork, networkOfChain } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, isAddress, MAX_UINT256, parseAddress, parseHash } from '@chainstead/core';
import { html } from 'hono/html';
import type { ConsoleServices } from '../../console-page.ts';
import { type Html, refused } from '../../layout/html.ts';
import type { CellPlace } from './tables/cells.ts';

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

/** @throws InvalidParameterError, as all functions below that return no null */
export function blockIn(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refused('block', text, 'a whole number');
  return Number(text);
}

export function hashIn(text: string): Hash {
  const subject = readSubject(text);
  if (subject?.kind !== 'hash') throw refused('hash', text, '0x and 64 hexadecimal digits');
  return subject.hash;
}

export function addressIn(parameter: string, text: string, allowed: string): Address {
  if (!isAddress(text)) throw refused(parameter, text, allowed);
  return parseAddress(text);
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

type ChainChoice = Pick<ConsoleServices, 'registry' | 'explorer'>;

export function chainNamed({ registry, explorer }: ChainChoice, name = ''): Chain {
  const id = registry.find(name)?.id;
  const chain = explorer.chains.find((indexed) => indexed.id === id);
  if (chain === undefined) throw refused('chain', name, 'a chain that is indexed here');
  return chain;
}

export function chainsRequested(choice: ChainChoice, name: string | undefined): readonly Chain[] {
  return name === undefined || name === '' ? choice.explorer.chains : [chainNamed(choice, name)];
}

export function networkNamed(networks: readonly AptosNetwork[], name: string): AptosNetwork {
  const network = networkOfChain(name);
  if (network === null || !networks.includes(network))
    throw refused('chain', name, 'a network that is indexed here');
  return network;
}

export function placeOn({ key, native, wrappedNative }: Chain): CellPlace {
  return { chain: key, coin: { symbol: native.symbol, decimals: native.decimals, wrapped: wrappedNative } };
}

export function chainLinks(
  address: string,
  links: { readonly chosen: string | null; readonly found: readonly string[]; readonly all: readonly string[] },
): Html {
  const { chosen, found, all } = links;
  const link = (name: string | null): Html => {
    const target = name === null ? address : `${address}?chain=${encodeURIComponent(name)}`;
    return html`<li><a href="${target}" ${chosen === name && html`aria-current="true"`}>${name ?? 'All chains with data'}</a></li>`;
  };
  const others = all.filter((name) => !found.includes(name));
  return html`<nav aria-label="Chains" class="chains"><ul>${[null, ...found].map(link)}</ul>
${others.length > 0 && html`<details><summary>Other chains</summary><ul>${others.map(link)}</ul></details>`}</nav>`;
}
