import { type Hex, parseHash } from '@chainstead/core';
import {
  type DecodedArgument,
  type DecodedCall,
  type DecodedEvent,
  decodeCall,
  decodeEvent,
} from '@chainstead/events/decoding';
import { z } from '@hono/zod-openapi';
import type { BooksOf } from '../abis/abi-books.ts';

const argumentShape = {
  name: z.string().openapi({ example: 'to', description: 'As in the ABI. Empty if unknown' }),
  type: z.string().openapi({ example: 'address' }),
  value: z.string().openapi({
    example: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    description: 'Addresses with EIP-55 checksum, integers in decimal, arrays and tuples as JSON',
  }),
  indexed_hash: z
    .literal(true)
    .optional()
    .openapi({ description: 'true if the value is the hash of an indexed argument' }),
};

const argumentSchema = z
  .object({
    ...argumentShape,
    components: z
      .array(z.object({ ...argumentShape, components: z.array(z.unknown()).optional() }))
      .optional()
      .openapi({ description: 'Members of a tuple' }),
  })
  .openapi('DecodedArgument');

const decodedShape = {
  signature: z.string().openapi({ example: 'transfer(address,uint256)' }),
  label: z.string().openapi({ example: 'transfer' }),
  params: z.array(argumentSchema),
  abi_source: z
    .enum(['contract', 'implementation', 'same-code', 'standard', 'signatures'])
    .openapi({ description: 'Source of the ABI' }),
};

export const decodedCallSchema = z
  .object({ ...decodedShape, type: z.literal('function') })
  .openapi('DecodedCall');
export const decodedEventSchema = z.object({ ...decodedShape, type: z.literal('event') }).openapi('DecodedEvent');
type ShownArgument = z.infer<typeof argumentSchema>;

/** Null: unknown, or a creation. `block`: number. */
export function decodedCall(
  { to, input }: { readonly to: string | null; readonly input: string },
  block: number,
  booksOf: BooksOf,
): DecodedCall | null {
  return to === null ? null : decodeCall(input as Hex, booksOf(to, block));
}

export function showDecodedCall(decoded: DecodedCall | null): z.infer<typeof decodedCallSchema> | null {
  return decoded === null ? null : { ...shown(decoded), type: 'function' };
}

type ShownLog = Readonly<Record<'address' | 'block_number' | 'data', string>> &
  Readonly<Record<'topic0' | 'topic1' | 'topic2' | 'topic3', string | null>>;

export function showDecodedEvent(log: ShownLog, booksOf: BooksOf): z.infer<typeof decodedEventSchema> | null {
  const topics = [log.topic0, log.topic1, log.topic2, log.topic3].flatMap((topic) =>
    topic === null ? [] : [parseHash(topic)],
  );
  const decoded = decodeEvent({ topics, data: log.data as Hex }, booksOf(log.address, Number(log.block_number)));
  return decoded === null ? null : { ...shown(decoded), type: 'event' };
}

function shown({ signature, label, params, source }: DecodedCall | DecodedEvent) {
  return { signature, label, params: params.map(showArgument), abi_source: source };
}

function showArgument({ name, type, value, components, isHash }: DecodedArgument): ShownArgument {
  return {
    ...{ name, type, value },
    ...(isHash === true && { indexed_hash: isHash }),
    ...(components !== undefined && { components: components.map(showArgument) }),
  };
}
