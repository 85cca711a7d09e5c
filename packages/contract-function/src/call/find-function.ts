import { type AbiFunction, type AbiType, abiFunction, parseSignature } from '@chainstead/decoding';
import { InvalidParameterError } from '@chainstead/http';
import { byPlace } from './by-place.ts';
import { readTypes } from './read-types.ts';

/** A function of an ABI with what it returns. */
export interface RequestedFunction extends AbiFunction {
  readonly outputs: readonly AbiType[];
}

/** Values by the names of inputs, or by their places where they have none. */
export type CallParams = Readonly<Record<string, unknown>>;

const PARAMETER = 'function_name';
const NAME = 'the name of a function of the ABI, or its signature such as balanceOf(address)';
/** So many overloads are named in a refusal. */
const SHOWN_MAX = 10;

/**
 * Returns the requested function, by signature or by name. Among overloads, the inputs must have exactly the names of the params. Only entries of
 * that name are read.
 * @param abi as the client wrote it
 * @throws InvalidParameterError
 */
export function findFunction(abi: readonly unknown[], requested: string, params: CallParams): RequestedFunction {
  const signature = requested.includes('(') ? parseSignature(requested) : null;
  const name = signature?.name ?? (parseSignature(`${requested}()`) === null ? null : requested);
  const named = name === null ? [] : overloadsOf(abi, name);
  const matching = signature === null ? named : named.filter((one) => one.signature === signature.signature);
  const [only, ...others] = matching;
  if (only === undefined) throw new InvalidParameterError({ parameter: PARAMETER, given: requested, allowed: NAME });
  if (others.length === 0) return only;
  const [fitting, ...alsoFitting] = matching.filter((one) => hasExactly(one, params));
  if (fitting !== undefined && alsoFitting.length === 0) return fitting;
  const shown = matching.slice(0, SHOWN_MAX).map((one) => one.signature);
  throw new InvalidParameterError({
    parameter: PARAMETER,
    given: requested,
    allowed: `the signature of one of its overloads: ${shown.join(', ')}`,
  });
}

/** What a value for an input is called. */
export function keyOf({ name }: Pick<AbiType, 'name'>, place: number): string {
  return name === '' ? String(place) : name;
}

/** Each signature once. */
function overloadsOf(abi: readonly unknown[], name: string): readonly RequestedFunction[] {
  const overloads = new Map<string, RequestedFunction>();
  for (const [place, entry] of abi.entries()) {
    const { type = 'function', name: called, inputs, outputs }: Entry = Object(entry);
    if (type !== 'function' || called !== name) continue;
    const found = abiFunction(name, readTypes(inputs, `abi.${place}.inputs`));
    const known = overloads.get(found.signature);
    if (known === undefined)
      overloads.set(found.signature, { ...found, outputs: readTypes(outputs, `abi.${place}.outputs`) });
  }
  return [...overloads.values()];
}

interface Entry {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly inputs?: unknown;
  readonly outputs?: unknown;
}

function hasExactly({ inputs }: RequestedFunction, params: CallParams): boolean {
  const keys = new Set(inputs.map(keyOf));
  const given = Object.keys(byPlace(inputs, params));
  return given.length === keys.size && given.every((key) => keys.has(key));
}
