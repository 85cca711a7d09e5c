import type { Hex } from '@chainstead/core';
import type { AbiFunction } from '@chainstead/decoding';
import { concatHex, encodeAbiParameters } from 'viem/utils';
import { byPlace } from './by-place.ts';
import { type CallParams, keyOf } from './find-function.ts';
import { ArgumentReader } from './read-argument.ts';

/**
 * The data of a call.
 * @throws InvalidParameterError with each value that is missing, or does not fit its type, up to ten of them
 */
export function encodeCall({ selector, inputs, layout }: AbiFunction, given: CallParams): Hex {
  const params = byPlace(inputs, given);
  const reader = new ArgumentReader();
  const values = inputs.map((input, place) => {
    const key = keyOf(input, place);
    return reader.read(input, Object.hasOwn(params, key) ? params[key] : undefined, `params.${key}`);
  });
  reader.end();
  return concatHex([selector, encodeAbiParameters(layout, values)]);
}
