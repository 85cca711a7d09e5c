import { getOrCompute } from '@chainstead/core';
import { type AbiFunction, type AbiType, abiFunction, parseSignature } from '@chainstead/events/decoding';
import { InvalidParameterError } from '@chainstead/http';
import { byPlace } from './by-place.ts';
import { readTypes } from './read-types.ts';

export interface RequestedFunction extends AbiFunction {
  readonly outputs: readonly AbiType[];
}

/** Values by names of inputs, or positions if they have none. */
export type CallParams = Readonly<Record<string, unknown>>;

const PARAMETER = 'function_name';
const NAME = 'the name of a function of the ABI, or its signature such as balanceOf(address)';
const SHOWN_MAX = 10;

/** Overloads need exactly the names of the params. @throws InvalidParameterError */
export function findFunction(abi: readonly unknown[], requested: string, params: CallParams): RequestedFunction {
  const signature = requested.includes('(') ? parseSignature(requested) : null;
  const name = signature?.name ?? (parseSignature(`${requested}()`) === null ? null : requested);
  const named = name === null ? [] : overloadsOf(abi, name);
  const matching =
    signature === null ? named : named.filter((overload) => overload.signature === signature.signature);
  const [only, ...others] = matching;
  if (only === undefined)
    throw new InvalidParameterError({ parameter: PARAMETER, given: requested, allowed: NAME });
  if (others.length === 0) return only;
  const [fitting, ...alsoFitting] = matching.filter(({ inputs }) => {
    const names = new Set(Object.keys(byPlace(inputs, params)));
    return new Set(inputs.map(keyOf)).symmetricDifference(names).size === 0;
  });
  if (fitting !== undefined && alsoFitting.length === 0) return fitting;
  const shown = matching.slice(0, SHOWN_MAX).map((overload) => overload.signature);
  const allowed = `the signature of one of its overloads: ${shown.join(', ')}`;
  throw new InvalidParameterError({ parameter: PARAMETER, given: requested, allowed });
}

export function keyOf({ name }: Pick<AbiType, 'name'>, index: number): string {
  return name === '' ? String(index) : name;
}

function overloadsOf(abi: readonly unknown[], name: string): readonly RequestedFunction[] {
  const overloads = new Map<string, RequestedFunction>();
  for (const [index, entry] of abi.entries()) {
    const { type = 'function', name: called, inputs, outputs }: Readonly<Record<string, unknown>> = Object(entry);
    if (type !== 'function' || called !== name) continue;
    const overload = abiFunction(name, readTypes(inputs, `abi.${index}.inputs`));
    getOrCompute(overloads, overload.signature, () => ({
      ...overload,
      outputs: readTypes(outputs, `abi.${index}.outputs`),
    }));
  }
  return [...overloads.values()];
}
