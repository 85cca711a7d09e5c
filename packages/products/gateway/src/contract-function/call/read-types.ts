import { type AbiType, typeNamed } from '@chainstead/events/decoding';
import { InvalidParameterError } from '@chainstead/http';
import { problemWith } from './problem-with.ts';

const TYPES_MAX = 512;
const NESTING_MAX = 8;
const NAME_LENGTH_MAX = 256;
const TYPE = 'a type of Solidity such as uint256, address[] or tuple';
const NAME = `a text of up to ${NAME_LENGTH_MAX} characters`;

/** @param where its name in errors: `abi.0.inputs` @throws InvalidParameterError */
export function readTypes(given: unknown, where: string): readonly AbiType[] {
  return readList(given, where, { nesting: 0, budget: { left: TYPES_MAX } });
}

interface Reading {
  readonly nesting: number;
  readonly budget: { left: number };
}

function readList(given: unknown, where: string, reading: Reading): readonly AbiType[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw new InvalidParameterError(problemWith(where, given, 'a list of parameters'));
  return given.map((entry: unknown, index) => readType(entry, `${where}.${index}`, reading));
}

function readType(given: unknown, where: string, { nesting, budget }: Reading): AbiType {
  budget.left -= 1;
  if (budget.left < 0)
    throw new InvalidParameterError({ parameter: where, message: `${where}: too many parameters` });
  const { type: written, name = '', components }: Readonly<Record<string, unknown>> = Object(given);
  const type = typeof written === 'string' ? typeNamed(written) : null;
  if (type === null) throw new InvalidParameterError(problemWith(`${where}.type`, written, TYPE));
  if (typeof name !== 'string' || name.length > NAME_LENGTH_MAX)
    throw new InvalidParameterError(problemWith(`${where}.name`, name, NAME));
  if (!type.startsWith('tuple')) return { name, type };
  if (nesting >= NESTING_MAX)
    throw new InvalidParameterError({ parameter: where, message: `${where}: tuples nest too deep` });
  const members = readList(components, `${where}.components`, { nesting: nesting + 1, budget });
  if (members.length === 0)
    throw new InvalidParameterError(problemWith(`${where}.components`, components, 'the members of the tuple'));
  return { name, type, components: members };
}
