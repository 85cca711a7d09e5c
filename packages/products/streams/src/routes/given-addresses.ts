import { type Address, isAddress, parseAddress } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { InvalidAddressError } from './stream-errors.ts';

/** docs/api/streams-reference.md#create-and-update */
export const ADDRESSES_MAX = 50_000;

export const addressList = z
  .array(z.unknown())
  .max(ADDRESSES_MAX)
  .openapi({ type: 'array', items: { type: 'string' } });

const NAMED_MAX = 10;
const SHOWN_LENGTH_MAX = 60;

/** Lower case, each once. @throws InvalidAddressError naming the first bad items */
export function givenAddresses(given: string | readonly unknown[], member: string): readonly Address[] {
  if (typeof given === 'string') {
    if (!isAddress(given)) throw new InvalidAddressError(detail(`requestBody.${member}`, given));
    return [parseAddress(given)];
  }
  const bad = [...given.entries()].filter(([, item]) => !isAddress(item)).slice(0, NAMED_MAX);
  if (bad.length > 0)
    throw new InvalidAddressError(
      Object.assign({}, ...bad.map(([index, item]) => detail(`requestBody.${member}.$${index}`, item))),
    );
  return [...new Set(given.map(parseAddress))];
}

function detail(key: string, item: unknown): Readonly<Record<string, unknown>> {
  const value = typeof item === 'string' ? { value: item.slice(0, SHOWN_LENGTH_MAX) } : {};
  return { [key]: { message: 'must be a hexadecimal address (0x and 40 digits)', ...value } };
}
