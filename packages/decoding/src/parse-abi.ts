import { ChainsteadError } from '@chainstead/core';
import {
  type AbiEvent,
  type AbiFunction,
  type AbiType,
  abiEvent,
  abiFunction,
  isIdentifier,
  typeNamed,
} from './abi-entry.ts';

/** What an ABI in JSON declares. */
export interface ParsedAbi {
  readonly functions: readonly AbiFunction[];
  /** Without anonymous ones. */
  readonly events: readonly AbiEvent[];
  /** Functions and events whose names or types can't be read. */
  readonly skipped: number;
}

/** No ABI in any of the known forms. Code `ABI_UNREADABLE`. */
export class AbiUnreadableError extends ChainsteadError {
  constructor() {
    super({
      code: 'ABI_UNREADABLE',
      message: 'There is no ABI in it',
      remedy:
        'Give an array of the Solidity ABI specification, a build artefact (`{"abi": […]}`), or metadata of the compiler (`{"output": {"abi": […]}}`)',
      retryable: false,
    });
  }
}

/**
 * The functions and events of an ABI: a plain array, an artefact of Foundry, Hardhat or Truffle (`abi`), or the compiler's metadata (`output.abi`).
 * @param content parsed JSON
 * @throws AbiUnreadableError
 */
export function parseAbi(content: unknown): ParsedAbi {
  const items = itemsOf(content);
  if (items === null) throw new AbiUnreadableError();
  const functions: AbiFunction[] = [];
  const events: AbiEvent[] = [];
  let skipped = 0;
  for (const item of items) {
    const { type = 'function', anonymous } = fieldsOf(item);
    if (type === 'event' && anonymous !== true) {
      const event = eventOf(item);
      if (event === null) skipped += 1;
      else events.push(event);
    } else if (type === 'function') {
      const entry = functionOf(item);
      if (entry === null) skipped += 1;
      else functions.push(entry);
    }
  }
  return { functions, events, skipped };
}

function itemsOf(content: unknown): readonly unknown[] | null {
  const { abi, output } = fieldsOf(content);
  const found = [content, abi, fieldsOf(output).abi].find((given) => Array.isArray(given));
  return Array.isArray(found) ? found : null;
}

function functionOf(item: unknown): AbiFunction | null {
  const { name, inputs = [] } = fieldsOf(item);
  const types = typesOf(inputs, 0);
  return typeof name === 'string' && isIdentifier(name) && types !== null ? abiFunction(name, types) : null;
}

function eventOf(item: unknown): AbiEvent | null {
  const { name, inputs = [] } = fieldsOf(item);
  const types = typesOf(inputs, 0);
  if (typeof name !== 'string' || !isIdentifier(name) || types === null || !Array.isArray(inputs)) return null;
  return abiEvent(
    name,
    types.map((type, index) => ({ ...type, isIndexed: fieldsOf(inputs[index]).indexed === true })),
  );
}

const NESTING_MAX = 8;
/** No compiler takes as many. */
const INPUTS_MAX = 256;

function typesOf(inputs: unknown, nesting: number): AbiType[] | null {
  if (!Array.isArray(inputs) || inputs.length > INPUTS_MAX || nesting > NESTING_MAX) return null;
  const types: AbiType[] = [];
  for (const input of inputs) {
    const { name, type, components } = fieldsOf(input);
    const known = typeof type === 'string' ? typeNamed(type) : null;
    if (known === null) return null;
    const shown = { name: typeof name === 'string' && isIdentifier(name) ? name : '', type: known };
    if (!known.startsWith('tuple')) types.push(shown);
    else {
      const members = typesOf(components, nesting + 1);
      if (members === null) return null;
      types.push({ ...shown, components: members });
    }
  }
  return types;
}

interface Fields {
  readonly [name: string]: unknown;
}

function fieldsOf(given: unknown): Fields {
  return typeof given === 'object' && given !== null ? (given as Fields) : {};
}
