import { defineError, type Hash, type Hex, keccak256Hex } from '@chainstead/core';
import type { AbiParameter } from 'viem';
import { abiSignature } from '../abi/index.ts';

/** Solidity ABI: `uint256[2]`, `tuple[]`. */
export interface AbiType {
  /** Empty if unnamed. */
  readonly name: string;
  readonly type: string;
  readonly components?: readonly AbiType[];
}

export interface AbiFunction {
  readonly name: string;
  readonly inputs: readonly AbiType[];
  /** `transfer(address,uint256)`. */
  readonly signature: string;
  readonly hash: Hash;
  readonly selector: Hex;
  /** Without names, decoded to arrays: member names may be anything. */
  readonly layout: readonly AbiParameter[];
}

export interface AbiEvent {
  readonly name: string;
  readonly inputs: readonly (AbiType & { readonly isIndexed: boolean })[];
  readonly signature: string;
  readonly topic0: Hash;
  /** No topic for the signature: all are indexed arguments. */
  readonly isAnonymous: boolean;
}

export function abiFunction(name: string, inputs: readonly AbiType[]): AbiFunction {
  const signature = abiSignature(name, inputs);
  const hash = keccak256Hex(Buffer.from(signature));
  return {
    name,
    inputs,
    signature,
    hash,
    selector: hash.slice(0, SELECTOR_DIGITS) as Hex,
    layout: layoutOf(inputs),
  };
}

export function abiEvent(name: string, inputs: AbiEvent['inputs'], isAnonymous = false): AbiEvent {
  const signature = abiSignature(name, inputs);
  return { name, inputs, signature, topic0: keccak256Hex(Buffer.from(signature)), isAnonymous };
}

/** With `0x`. */
export const SELECTOR_DIGITS = 10;

/** Without names, so that viem decodes tuples to arrays. */
export function layoutOf(types: readonly AbiType[]): readonly AbiParameter[] {
  return types.map(({ type, components }) =>
    components === undefined ? { type } : { type, components: layoutOf(components) },
  );
}

const BASE =
  /^(?:address|bool|string|bytes(?:[1-9]|[12]\d|3[0-2])?|u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|1(?:04|12|20|28|36|44|52|60|68|76|84|92)|2(?:00|08|16|24|32|40|48|56))|tuple)$/;
const ARRAYS = /^(?:\[(?:[1-9]\d{0,5})?\])*$/;
const NESTING_MAX = 8;

/** `uint` and `int` in full; null if not decodable (`fixed`, `function`). */
export function typeNamed(given: string): string | null {
  const end = given.indexOf('[');
  const base = end === -1 ? given : given.slice(0, end);
  const arrays = end === -1 ? '' : given.slice(end);
  const full = base === 'uint' || base === 'int' ? `${base}256` : base;
  if (!BASE.test(full) || !ARRAYS.test(arrays)) return null;
  return arrays.split('[').length - 1 > NESTING_MAX ? null : `${full}${arrays}`;
}

export function withoutIndex({ name, type, components }: AbiType): AbiType {
  return components === undefined ? { name, type } : { name, type, components };
}

const IDENTIFIER = /^[A-Za-z_$][\w$]{0,255}$/;

export function isIdentifier(name: string): boolean {
  return IDENTIFIER.test(name);
}

export class AbiUnreadableError extends defineError(
  'ABI_UNREADABLE',
  (place: string, problem: string, remedy: string) => ({
    message: `No ABI or signature could be imported from ${place}: ${problem}`,
    facts: { place },
    remedy,
  }),
) {}
