import type { AbiSource } from './abi-book.ts';

export interface DecodedArgument {
  /** As in the ABI; empty if unknown. */
  readonly name: string;
  /** As in the ABI: `address`, `bytes32[]`, `tuple`. */
  readonly type: string;
  /** Addresses in EIP-55 form, integers in decimal, bytes in hexadecimal; arrays and tuples as JSON of such texts. */
  readonly value: string;
  readonly components?: readonly DecodedArgument[];
  /** Whether the value is the hash of an argument too long for a topic. */
  readonly isHash?: true;
}

interface Decoded {
  /** Name and canonical types: `transfer(address,uint256)`. */
  readonly signature: string;
  /** The name without types. */
  readonly label: string;
  readonly params: readonly DecodedArgument[];
  readonly source: AbiSource;
}

export type DecodedCall = Decoded & { readonly type: 'function' };
export type DecodedEvent = Decoded & { readonly type: 'event' };
