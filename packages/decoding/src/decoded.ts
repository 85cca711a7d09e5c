import type { AbiSource } from './abi-book.ts';

/** An argument, its value as text. */
export interface DecodedArgument {
  /** As in the ABI; empty where none is known. */
  readonly name: string;
  /** As in the ABI: `address`, `bytes32[]`, `tuple`. */
  readonly type: string;
  /** Addresses as EIP-55 writes them, integers in decimals, bytes as hexadecimal digits, `true` or `false`; arrays and tuples as JSON of such texts. */
  readonly value: string;
  /** Of a tuple. */
  readonly components?: readonly DecodedArgument[];
  /** Whether the value is the hash of an argument that a topic has no room for. */
  readonly isHash?: true;
}

interface Decoded {
  /** Name and canonical types: `transfer(address,uint256)`. */
  readonly signature: string;
  /** The bare name. */
  readonly label: string;
  readonly params: readonly DecodedArgument[];
  /** Which ABI told it. */
  readonly source: AbiSource;
}

export interface DecodedCall extends Decoded {
  readonly type: 'function';
}

export interface DecodedEvent extends Decoded {
  readonly type: 'event';
}
