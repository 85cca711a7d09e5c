import type { AbiSource } from './abi-book.ts';

export interface DecodedArgument {
  readonly name: string;
  readonly type: string;
  /** EIP-55 addresses, decimal integers, hexadecimal bytes; arrays and tuples as JSON. */
  readonly value: string;
  readonly components?: readonly DecodedArgument[];
  /** Hash of an argument too long for a topic. */
  readonly isHash?: true;
}

interface Decoded {
  readonly signature: string;
  readonly label: string;
  readonly params: readonly DecodedArgument[];
  readonly source: AbiSource;
}

export type DecodedCall = Decoded & { readonly type: 'function' };
export type DecodedEvent = Decoded & { readonly type: 'event' };
