import { invalidParams, type RpcErrorObject } from '../protocol/rpc-errors.ts';
import type { GatewayMethod } from './method-table.ts';
import { isAbsent } from './parameter.ts';

const UNPLACED = /^(?:storage key too long|invalid hex in storage key)/;

export function readParams(
  { parameters }: GatewayMethod,
  given: readonly unknown[],
): { readonly params: readonly unknown[] } | { readonly error: RpcErrorObject } {
  if (given.length > parameters.length)
    return { error: invalidParams(`too many arguments, want at most ${parameters.length}`) };
  let params = given;
  for (const [index, parameter] of parameters.entries()) {
    const value = given[index];
    if (!isAbsent(value)) {
      const problem = parameter.check(value);
      if (problem === null) continue;
      return { error: invalidParams(UNPLACED.test(problem) ? problem : `invalid argument ${index}: ${problem}`) };
    }
    if (parameter.isOptional !== true)
      return { error: invalidParams(`missing value for required argument ${index}: ${parameter.name}`) };
    if (parameter.fill !== undefined)
      params = [...params.slice(0, index), parameter.fill, ...params.slice(index + 1)];
  }
  return { params };
}
