import { hexBytes } from '@chainstead/db';
import type { ParameterColumn } from '../tables/event-table.ts';

interface ColumnValues {
  readonly allowed: string;
  parse(text: string): FilterValue | undefined;
}

export type FilterValue = Buffer | string | boolean;

export function columnValues({ type, abiType, isHash }: ParameterColumn): ColumnValues | null {
  switch (type) {
    case 'jsonb':
      return null;
    case 'text':
      return { allowed: 'a text', parse: (text) => text };
    case 'boolean':
      return { allowed: 'true or false', parse: (text) => BOOLEANS.get(text.toLowerCase()) };
    case 'bytea':
      return isHash ? bytesOf('a Keccak-256 hash', HASH_BYTES) : bytesOfType(abiType.type);
    case 'numeric':
      return integersOfType(abiType.type);
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;

function bytesOfType(abiType: string): ColumnValues {
  if (abiType === 'address') return bytesOf('a hexadecimal address', ADDRESS_BYTES);
  const length = Number(abiType.slice('bytes'.length));
  return length > 0
    ? bytesOf(`a value of type ${abiType}`, length)
    : {
        allowed: 'hexadecimal bytes (0x and an even number of digits)',
        parse: (text) => (/^0x(?:[0-9a-f]{2})*$/i.test(text) ? hexBytes(text) : undefined),
      };
}

function bytesOf(kind: string, length: number): ColumnValues {
  const form = new RegExp(`^0x[0-9a-f]{${2 * length}}$`, 'i');
  return {
    allowed: `${kind} (0x and ${2 * length} digits)`,
    parse: (text) => (form.test(text) ? hexBytes(text) : undefined),
  };
}

function integersOfType(abiType: string): ColumnValues {
  const isSigned = abiType.startsWith('int');
  const bits = BigInt(abiType.slice(isSigned ? 'int'.length : 'uint'.length));
  const exponent = isSigned ? bits - 1n : bits;
  const max = 2n ** exponent - 1n;
  const min = isSigned ? -(2n ** exponent) : 0n;
  return {
    allowed: `a whole number from ${isSigned ? `−2^${exponent}` : '0'} to 2^${exponent} − 1, in decimal digits`,
    parse: (text) => {
      const value = /^-?\d{1,78}$/.test(text) ? BigInt(text) : null;
      return value === null || value < min || value > max ? undefined : value.toString();
    },
  };
}
