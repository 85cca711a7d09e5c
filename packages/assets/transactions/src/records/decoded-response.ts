import type { Address, Hex } from '@chainstead/core';
import {
  type DecodedArgument,
  type DecodedCall,
  type DecodedEvent,
  decodeCall,
} from '@chainstead/events/decoding';
import { each, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { BooksOf } from '../abis/abi-books.ts';

const { text } = wire;
const onlyTrue = wire.wire(z.literal(true));

const argumentFields = {
  name: text({ example: 'to', description: 'As in the ABI. Empty if unknown' }),
  type: text({ example: 'address' }),
  value: text({
    example: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    description: 'Addresses with EIP-55 checksum, integers in decimal, arrays and tuples as JSON',
  }),
  indexed_hash: onlyTrue.orAbsent(
    'true if the value is the hash of an indexed argument',
    ({ isHash }: DecodedArgument) => isHash,
  ),
};

const argument = (given: DecodedArgument) => given;

const componentView = view(null, argument, {
  ...argumentFields,
  components: wire
    .wire(z.array(z.unknown()), (list: readonly DecodedArgument[]): unknown[] =>
      list.map((item) => componentView.show(item)),
    )
    .orAbsent(),
});

const argumentView = view('DecodedArgument', argument, {
  ...argumentFields,
  components: each(componentView).orAbsent('Members of a tuple'),
});

const decodedFields = {
  signature: text({ example: 'transfer(address,uint256)' }),
  label: text({ example: 'transfer' }),
  params: each(argumentView)(),
  abi_source: wire.wire(z.enum(['contract', 'implementation', 'same-code', 'standard', 'signatures']))(
    'Source of the ABI',
    ({ source }: Pick<DecodedCall, 'source'>) => source,
  ),
};

export const decodedCallView = view('DecodedCall', (call: DecodedCall) => call, {
  ...decodedFields,
  type: wire.wire(z.literal('function'))(),
});

export const decodedEventView = view('DecodedEvent', (event: DecodedEvent) => event, {
  ...decodedFields,
  type: wire.wire(z.literal('event'))(),
});

/** Null: unknown, or a creation. `block`: number. */
export function decodedCall(
  { to, input }: { readonly to: Address | null; readonly input: Hex },
  block: number,
  booksOf: BooksOf,
): DecodedCall | null {
  return to === null ? null : decodeCall(input, booksOf(to, block));
}
