import type { AbiType } from '@chainstead/events/decoding';
import type { ParameterColumn } from '../tables/event-table.ts';

export interface JsonSchema {
  readonly type: string;
  readonly description?: string;
  readonly pattern?: string;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

export function columnSchema({ type, abiType, isHash }: ParameterColumn): JsonSchema {
  const { name, type: abi } = abiType;
  const parameter = name === '' ? 'Parameter without a name' : `Parameter \`${name}\``;
  if (isHash)
    return {
      ...bytesSchema(HASH_BYTES),
      description: `${parameter}: Keccak-256 hash of a value of type ${abi}.`,
    };
  const description = `${parameter} of type ${abi}.`;
  switch (type) {
    case 'numeric':
      return { type: 'string', pattern: abi.startsWith('int') ? '^-?[0-9]+$' : '^[0-9]+$', description };
    case 'boolean':
      return { type: 'boolean', description };
    case 'text':
      return { type: 'string', description };
    case 'bytea':
      return {
        ...bytesSchema(abi === 'address' ? ADDRESS_BYTES : Number(abi.slice('bytes'.length))),
        description,
      };
    case 'jsonb':
      return { ...nestedSchema(abiType), description };
  }
}

const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;

function bytesSchema(bytes: number): JsonSchema {
  return { type: 'string', pattern: `^0x${bytes === 0 ? '([0-9a-f]{2})*' : `[0-9a-f]{${2 * bytes}}`}$` };
}

/** Leaves are texts. Unnamed or equally named members make a list. */
function nestedSchema({ type, components = [] }: AbiType): JsonSchema {
  if (type.endsWith(']')) {
    const item = { name: '', type: type.slice(0, type.lastIndexOf('[')), components };
    return { type: 'array', items: nestedSchema(item) };
  }
  if (type !== 'tuple') return { type: 'string' };
  const names = components.map(({ name }) => name);
  if (names.includes('') || new Set(names).size < names.length) return { type: 'array' };
  const members = components.map((component) => [component.name, nestedSchema(component)] as const);
  return { type: 'object', properties: Object.fromEntries(members), required: names };
}
